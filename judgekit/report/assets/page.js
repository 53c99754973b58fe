/* judgekit, with preact, htm, diff: licences in LICENSES.txt */
(()=>{var q,fn,ps,fe,kt,et,pn,Qe,$n,Ct,xt,$s,We=Symbol.for("pv"),tt={},nt=[],ms=/^m(i|n|o|s|text|space)$/,St=Array.isArray,Et=nt.slice,be=Object.assign;function _e(e){e&&e.parentNode&&e.remove()}function mn(e,t,n){var o,s,r,a={},l=arguments.length;for(r in t)r=="key"?o=t[r]:r=="ref"&&typeof e!="function"?s=t[r]:a[r]=t[r];return l>2&&(a.children=l>3?Et.call(arguments,2):n),Re(e,a,o,s,null)}function Re(e,t,n,o,s){var r={type:e,props:t,key:n,ref:o,__k:null,__:null,__b:0,__e:null,__c:null,constructor:We,__v:s||++fn,__i:-1,__u:0};return!s&&q.vnode&&q.vnode(r),r}function ot(e){return e.children}function Xe(e,t){this.props=e,this.context=t,this.__g=0}function pe(e,t){if(t==null)return e.__&&pe(e.__,e.__i+1);for(var n;t<e.__k.length;t++)if((n=e.__k[t])&&n.__e)return n.__e;return typeof e.type!="function"||e.props.__P?null:pe(e)}function hs(e){var t,n=e.__v,o=n.__e,s=[],r=[],a=e.__P;a&&((t=be({constructor:We},n)).__v=n.__v+1,q.vnode&&q.vnode(t),Tt(a,t,n,e.__n,a.namespaceURI,32&n.__u?[o]:null,s,o||pe(n),32&n.__u,r),t.__v=n.__v,t.__.__k[t.__i]=t,yn(s,t,r),n.__=n.__e=null,t.__e!=o&&hn(t))}function hn(e){if((e=e.__)&&e.__c&&!e.props.__P)return e.__e=null,e.__k.some(function(t){return t&&(e.__e=t.__e)}),hn(e)}function un(e){(8&e.__g||(e.__g|=8,fe.push(e),et++))&&kt==q.debounceRendering||((kt=q.debounceRendering)||queueMicrotask)(gn)}function gn(){try{for(var e,t=1;fe.length;)fe.length>t&&fe.sort(pn),e=fe.shift(),t=fe.length,8&e.__g&&hs(e)}finally{(et=fe.length)&&(kt||queueMicrotask)(gn)}}function _n(e,t,n,o,s,r,a,l,u,f,d){var $,p,c,h,g,k,w=o.__k||nt,_=t.length;for(u=gs(n,t,w,u,_),$=0;$<_;$++)(c=n.__k[$])!=null&&(p=~c.__i&&w[c.__i]||tt,c.__i=$,k=Tt(e,c,p,s,r,a,l,u,f,d),h=c.__e,(p.ref!=c.ref||8&p.__u)&&(p.ref&&Pt(p.ref,null,c,p),c.ref&&d.push(c.ref,c.__c||h,c)),g=g||h,4&c.__u?(u=bn(c,u,e,!p.__v),p.__e&&(p.__e=null)):typeof c.type=="function"&&k!==void 0?u=k:h&&(u=h.nextSibling),c.__u&=-21);return n.__e=g,u}function gs(e,t,n,o,s){var r,a,l,u,f,d,$,p,c,h=n.length,g=h,k=0,w=0,_=e.__k=Array(s);for(r=0;r<s;r++)(a=t[r])!=null&&typeof a!="boolean"&&typeof a!="function"?(typeof a!="object"||a.constructor===String?a=_[r]=Re(null,a):St(a)?a=_[r]=Re(ot,{children:a}):a.constructor===We&&a.__b?a=_[r]=Re(a.type,a.props,a.key,a.ref,a.__v):_[r]=a,u=r+k,a.__=e,a.__b=e.__b+1,l=null,~(f=a.__i=_s(a,n,u,g))&&(g--,(l=n[f])&&(l.__u|=2)),l&&l.__v?(a.__u|=16,f==u-1?k--:f==u+1?k++:f!=u&&(f>u?k--:k++,w=1)):(~f||(s>h?k--:s<h&&k++),typeof a.type!="function"&&(a.__u|=4))):_[r]=null;if(w){for(d=[],$=[],r=0;r<s;r++)if((a=_[r])&&16&a.__u){for(k=0,p=d.length;k<p;)d[c=k+p>>1]<a.__i?k=c+1:p=c;d[k]=a.__i,$[r]=k+1}for(k=d.length;r--;)$[r]&&($[r]==k?k--:_[r].__u|=4)}if(g)for(r=0;r<h;r++)!(l=n[r])||2&l.__u||(l.__e==o&&(o=pe(l)),Ot(l,l));return o}function bn(e,t,n,o){var s,r,a,l;if(typeof e.type=="function"){if(e.props.__P)return t;if(s=e.__k)for(r=0;r<s.length;r++)s[r]&&(s[r].__=e,t=bn(s[r],t,n,!1));return t}for(t&&!t.parentNode&&(t=pe(e))&&!t.parentNode&&(t=null),a=e.__e,l=t;l&&l.nodeType==8;)l=l.nextSibling;for(a!=l&&(!o&&n.moveBefore&&a.parentNode?n.moveBefore(a,t):n.insertBefore(a,t||null)),t=a;(t=t&&t.nextSibling)&&t.nodeType==8&&!t.data.startsWith("$s"););return t}function _s(e,t,n,o){var s,r=e.key,a=e.type,l=t[n],u=l&&!(2&l.__u);if(l===null&&r==null||u&&r==l.key&&a==l.type)return n;if(o>(u?1:0)){for(s=n-1;s>=0;s--)if((l=t[s])&&!(2&l.__u)&&r==l.key&&a==l.type)return s;for(s=n+1;s<t.length;s++)if((l=t[s])&&!(2&l.__u)&&r==l.key&&a==l.type)return s}return-1}function dn(e,t,n){n==null&&(n=""),t[0]=="-"?e.setProperty(t,n):e[t]=n}function Ye(e,t,n,o,s){var r,a;if(t=="style")if(typeof n=="string")e.style.cssText=n;else{if(typeof o=="string"&&(e.style.cssText=o=""),o)for(t in o)n&&t in n||dn(e.style,t);if(n)for(t in n)o&&n[t]==o[t]||dn(e.style,t,n[t])}else if(t[0]=="o"&&t[1]=="n")typeof n!="function"&&(n=null),typeof o!="function"&&(o=null),(e.__e||(e.__e={}))[t]=n,n&&o||(a=xt[t]||(xt[t]=bs(t)),(e.__a||(e.__a={}))[t]=Ct,r=t!=(t=t.replace($n,"$1")),(t=t.slice(2))[0]<"a"&&(t=t.toLowerCase()),n?e.addEventListener(t,a,r):e.removeEventListener(t,a,r));else{if(s=="http://www.w3.org/2000/svg")t=t.replace(/xlink(H|:h)/,"h").replace(/sName$/,"s");else if(t!="width"&&t!="height"&&t!="href"&&t!="list"&&t!="form"&&t!="tabIndex"&&t!="download"&&t!="rowSpan"&&t!="colSpan"&&t!="role"&&t!="popover"&&t in e)try{return void(e[t]=n??"")}catch{}if(typeof n=="function")return;n==null||n===!1&&t[4]!="-"?e.removeAttribute(t):e.setAttribute(t,t=="popover"&&n==1?"":n)}}function bs(e){return function(t){var n=this.__e;if(n){if(n=n[e],t[Qe]==null)t[Qe]=Ct++;else if(t[Qe]<this.__a[e])return;return n(q.event?q.event(t):t)}}}function Tt(e,t,n,o,s,r,a,l,u,f){var d,$,p,c,h,g,k,w,_,b,C,j,O,R,P,m,y,E,D=t.type;if(t.constructor!==We)return null;128&n.__u&&(u=32&n.__u,d=n.__c.__z)&&(t.__u|=u,$=r=[],d.nodeType==8?l=Ze(d,r):r.push(d),l=r[0]||l),(d=q.__b)&&d(t);e:if(typeof D=="function"){p=a.length;try{if(w=t.props,_=(d=D.prototype)&&d.render,b=(d=D.contextType)&&o[d.__c],C=d?b?b.props.value:d.__:o,(c=n.__c)?(t.__c=c,2&c.__g&&(c.__g|=1)):(_?t.__c=c=new D(w,C):(t.__c=c=new Xe(w,C),c.constructor=D,c.render=ys),b&&b.sub(c),c.state||(c.state={}),c.__n=o,c.__g|=8,c.__h=[],c.__k=[]),_&&(c.__s||(c.__s=c.state),D.getDerivedStateFromProps&&(c.__s==c.state&&(c.__s=be({},c.__s)),be(c.__s,D.getDerivedStateFromProps(w,c.__s)))),h=c.props,g=c.state,c.__v=t,n.__c){if(w!==h&&_&&!D.getDerivedStateFromProps&&c.componentWillReceiveProps&&c.componentWillReceiveProps(w,C),t.__v==n.__v&&!(8&c.__g)||!(4&c.__g)&&c.shouldComponentUpdate&&c.shouldComponentUpdate(w,c.__s,C)===!1){t.__v!=n.__v&&(c.props=w,c.state=c.__s,c.__g&=-9),t.__e=n.__e,t.__k=n.__k,t.__k.some(function(N){N&&(N.__=t)}),nt.push.apply(c.__h,c.__k),c.__k=[],c.__h.length&&a.push(c),l=pe(n);break e}c.componentWillUpdate&&c.componentWillUpdate(w,c.__s,C),_&&c.componentDidUpdate&&c.__h.push(function(){c.componentDidUpdate(h,g,k)})}else _&&!D.getDerivedStateFromProps&&c.componentWillMount&&c.componentWillMount(),_&&c.componentDidMount&&c.__h.push(c.componentDidMount);c.context=C,c.props=w,c.__P=e,c.__g&=-5,j=q.__r,O=_?25:0;do c.__g&=-9,j&&j(t),d=c.render(c.props,c.state=c.__s,c.context);while(8&c.__g&&++O<25);_&&(nt.push.apply(c.__h,c.__k),c.__k=[]),c.state=c.__s,c.getChildContext&&(o=be({},o,c.getChildContext())),_&&n.__c&&c.getSnapshotBeforeUpdate&&(k=c.getSnapshotBeforeUpdate(h,g)),R=d&&d.type===ot&&d.key==null?d.props.children:d,w.__P&&(d=l,s=(e=w.__P).namespaceURI,u=r=null,n.props&&n.props.__P!=e&&(n.__k.some(function(N){N&&Ot(N,N)}),n.__k=null),l=n.__k?pe(n,0):null),l=_n(e,St(R)?R:[R],t,n,o,s,r,a,l,u,f),w.__P&&(t.__e=null,l=d),t.__u&=-161,$&&$.some(_e),c.__h.length&&a.push(c),1&c.__g&&(c.__g&=-4)}catch(N){if(a.length=p,t.__v=null,u||r)if(N&&N.then){if(t.__u|=128|u,r){for(~(y=r.indexOf(l||void 0))||(y=r.length);(E=r[y-1])&&E.nodeType==8;)y--;for(;y<r.length;y++)if(E=r[y])if(r[y]=null,P){if(E==m)break}else{if(E.nodeType!=8)break;E.data.startsWith("$s")&&(m=Ze(P=E))}}if(!P){for(;l&&l.nodeType==8&&l.nextSibling;)l=l.nextSibling;P=l}(d=Ze(P=t.__c.__z||(t.__c.__z=P)))?(t.__e=P,l=d):t.__e=l,l=l&&l.nextSibling}else r&&r.some(_e);else t.__e=n.__e;t.__k||(t.__k=n.__k||[]),N&&N.then||vn(t),q.__e(N,t,n)}}else l=t.__e=vs(n.__e,t,n,o,s,r,a,u,f,e);return(d=q.diffed)&&d(t),l}function Ze(e,t){if(e&&e.nodeType==8&&e.data.startsWith("$s"))for(var n=1;e=e.nextSibling;){if(e.nodeType==8){if(e.data.startsWith("$s"))n++;else if(e.data.startsWith("/$s")&&!--n)return e}t&&t.push(e)}}function vn(e){e&&(e.__c&&(e.__c.__g|=4),e.__k&&e.__k.some(vn))}function yn(e,t,n){for(var o=0;o<n.length;)Pt(n[o++],n[o++],n[o++]);q.__c&&q.__c(t,e),e.some(function(s){try{e=s.__h,s.__h=[],e.some(function(r){r.call(s)})}catch(r){q.__e(r,s.__v)}})}function vs(e,t,n,o,s,r,a,l,u,f){var d,$,p,c,h,g,k,w,_=n.props||tt,b=t.props,C=t.type;if(C=="svg"?s="http://www.w3.org/2000/svg":C=="math"?s="http://www.w3.org/1998/Math/MathML":s||(s="http://www.w3.org/1999/xhtml"),r){for(d=0;d<r.length;d++)if((h=r[d])&&(C?h.localName==C:h.nodeType==3)){e=h,r[d]=null;break}}if(!e){if(w=f.ownerDocument||document,!C)return w.createTextNode(b);e=w.createElementNS(s,C,b.is?b:f),l&&(q.__m&&q.__m(t,r),l=!1),r=null}if(C){if(f=C=="template"&&e.content||e,r=C=="textarea"&&b.defaultValue!=null?null:r&&Et.call(f.childNodes),!l&&r)for(_={},d=0;d<e.attributes.length;d++)_[(h=e.attributes[d]).name]=h.value;for(d in _)h=_[d],d=="dangerouslySetInnerHTML"?p=h:d=="children"||d in b||d=="value"&&"defaultValue"in b||d=="checked"&&"defaultChecked"in b||Ye(e,d,null,h,s);for(d in b)h=b[d],d=="children"?c=h:d=="dangerouslySetInnerHTML"?$=h:d=="value"?g=h:d=="checked"?k=h:l&&typeof h!="function"||_[d]===h||Ye(e,d,h,_[d],s);$?(l||p&&($.__html==p.__html||$.__html==e.innerHTML)||(e.innerHTML=$.__html),t.__k=[]):(p&&(e.textContent=""),(C=="foreignObject"||s=="http://www.w3.org/1998/Math/MathML"&&ms.test(C))&&(s="http://www.w3.org/1999/xhtml"),_n(f,St(c)?c:[c],t,n,o,s,r,a,r?r[0]:n.__k&&pe(n,0),l,u),r&&r.some(_e)),l&&C!="textarea"||(d="value",C=="progress"&&g==null?e.removeAttribute(d):g==null||g===e[d]&&(C!="progress"||g)||Ye(e,d,g,_[d],s),d="checked",k!=null&&k!=e[d]&&Ye(e,d,k,_[d],s))}else _===b||l&&e.data==b||(e.data=b);return e}function Pt(e,t,n,o){try{typeof e=="function"?t?t.__x=e(t)||1:o&&(o=o.__c||o.__e)&&(t=o.__x)&&(o.__x=null,typeof t=="function"?t():e(null)):e.current=t}catch(s){q.__e(s,n)}}function Ot(e,t,n){var o,s,r,a;if(q.unmount&&q.unmount(e),!(o=e.ref)||o.current&&o.current!=e.__e||Pt(o,null,t,e),o=e.__c){if(o.componentWillUnmount)try{o.componentWillUnmount()}catch(l){q.__e(l,t)}o.__P=o.__n=null}if(o=e.__k)for(a=0;a<o.length;a++)o[a]&&Ot(o[a],t,typeof e.type!="function"||n&&!e.props.__P);!n&&(o=e.__c)&&(o=o.__z)&&(s=Ze(o,r=[]))&&(o==e.__e&&r.some(_e),_e(s),_e(o)),n||_e(e.__e),e.__e=e.__c=e.__=null}function ys(e,t,n){return this.constructor(e,n)}function ee(e,t){var n,o,s,r;q.__&&q.__(e,t),t.nodeType==9&&(t=t.documentElement),o=(n=e&&32&e.__u)?null:t.__k,t.__k=Re(ot,{children:[e]}),s=[],r=[],Tt(t,t.__k,o||tt,tt,t.namespaceURI,o?null:t.firstChild?Et.call(t.childNodes):null,s,o?o.__e:t.firstChild,n,r),yn(s,t.__k,r),t.__k.props.children=null}q={__e:function(e,t,n,o){for(var s,r,a;t=t.__;)if((s=t.__c)&&!(1&s.__g)){s.__g|=4;try{if((a=(r=s.constructor)&&r.getDerivedStateFromError)&&s.setState(r.getDerivedStateFromError(e)),s.componentDidCatch&&(s.componentDidCatch(e,o||{}),a=1),a&&8&s.__g)return void(s.__g|=2)}catch(l){e=l}}throw et=0,e}},fn=0,ps=function(e){return e!=null&&e.constructor===We},Xe.prototype.setState=function(e,t){var n=this.__s;n&&n!=this.state||(n=this.__s=be({},this.state)),typeof e=="function"&&(e=e(be({},n),this.props)),e&&(be(n,e),this.__v&&(t&&this.__k.push(t),un(this)))},Xe.prototype.forceUpdate=function(e){this.__v&&(this.__g|=4,e&&this.__h.push(e),un(this))},Xe.prototype.render=ot,fe=[],et=0,pn=function(e,t){return e.__v.__b-t.__v.__b},Qe=Symbol(),$n=/(PointerCapture)$|Capture$/i,Ct=0,xt={},$s=0;var kn=function(e,t,n,o){var s;t[0]=0;for(var r=1;r<t.length;r++){var a=t[r++],l=t[r]?(t[0]|=a?1:2,n[t[r++]]):t[++r];a===3?o[0]=l:a===4?o[1]=Object.assign(o[1]||{},l):a===5?(o[1]=o[1]||{})[t[++r]]=l:a===6?o[1][t[++r]]+=l+"":a?(s=e.apply(l,kn(e,l,n,["",null])),o.push(s),l[0]?t[0]|=2:(t[r-2]=0,t[r]=s)):o.push(l)}return o},wn=new Map;function xn(e){var t=wn.get(this);return t||(t=new Map,wn.set(this,t)),(t=kn(this,t.get(e)||(t.set(e,t=(function(n){for(var o,s,r=1,a="",l="",u=[0],f=function(p){r===1&&(p||(a=a.replace(/^\s*\n\s*|\s*\n\s*$/g,"")))?u.push(0,p,a):r===3&&(p||a)?(u.push(3,p,a),r=2):r===2&&a==="..."&&p?u.push(4,p,0):r===2&&a&&!p?u.push(5,0,!0,a):r>=5&&((a||!p&&r===5)&&(u.push(r,0,a,s),r=6),p&&(u.push(r,p,0,s),r=6)),a=""},d=0;d<n.length;d++){d&&(r===1&&f(),f(d));for(var $=0;$<n[d].length;$++)o=n[d][$],r===1?o==="<"?(f(),u=[u],r=3):a+=o:r===4?a==="--"&&o===">"?(r=1,a=""):a=o+a[0]:l?o===l?l="":a+=o:o==='"'||o==="'"?l=o:o===">"?(f(),r=1):r&&(o==="="?(r=5,s=a,a=""):o==="/"&&(r<5||n[d][$+1]===">")?(f(),r===3&&(u=u[0]),r=u,(u=u[0]).push(2,0,r),r=0):o===" "||o==="	"||o===`
`||o==="\r"?(f(),r=2):a+=o),r===3&&a==="!--"&&(r=4,u=u[0])}return f(),u})(e)),t),arguments,[])).length>1?t:t[0]}var i=xn.bind(mn);var ws="judgekit-page/1";function st(e){return(Math.abs(e*8%2)===1?Math.round(e*50)/50:e).toFixed(2)}function Cn(){let e=document.getElementById("page-index");if(!e)return null;let t=JSON.parse(e.textContent);return t.format===ws?t:null}async function ks(e){let t=Uint8Array.from(atob(e),o=>o.charCodeAt(0)),n=new Blob([t]).stream().pipeThrough(new DecompressionStream("gzip"));return JSON.parse(await new Response(n).text())}async function xs(e){let t=await fetch(e);if(!t.ok)throw new Error(await t.text()||`the server answered ${t.status}`);return t.json()}var ve=new Map,Cs=8;function Sn(e){let t=ve.get(e);if(!t){let n=document.getElementById(`chunk-${e}`),o=document.getElementById("page-index").dataset.chunks;t=n?ks(n.textContent):xs(`${o}${e}`),t.catch(()=>ve.delete(e))}return ve.delete(e),ve.set(e,t),ve.size>Cs&&ve.delete(ve.keys().next().value),t}async function En(e,t){return(await Sn(Math.floor(t/e.chunk)))[t%e.chunk]}var Lt=[];function*Tn(e){if(typeof e=="string")yield e;else if(e&&typeof e=="object")for(let t of Object.values(e))yield*Tn(t)}function jt(e,t){return Lt[t*e.chunk]!==void 0}async function Pn(e,t){let n=t*e.chunk;return jt(e,t)||(await Sn(t)).forEach((s,r)=>{Lt[n+r]=[...Tn(s)].join(`
`).toLowerCase()}),Lt.slice(n,n+e.chunk)}var ye,K,Mt,On,At=Object.is,Fe=0,Wn=[],It=[],U=q,Ln=U.__b,jn=U.__r,Mn=U.diffed,An=U.__c,In=U.unmount,Dn=U.__;function Be(e,t){U.__h&&U.__h(K,e,Fe||t),Fe=0;var n=K.__H||(K.__H={__:[],__h:[]});return e>=n.__.length&&n.__.push({}),n.__[e]}function x(e){return Fe=1,Ss(Fn,e)}function Ss(e,t,n){var o=Be(ye++,2);if(o.t=e,!o.__c&&(o.__=[n?n(t):Fn(void 0,t),function(r){var a=(o.__N||o.__)[0],l=o.t(a,r);At(a,l)||(o.__N=[l,o.__[1]],o.__c.setState({}))}],o.__c=K,!K.__f)){K.__f=!0;var s=K.shouldComponentUpdate;K.shouldComponentUpdate=function(r,a,l){var u=this.__H;if(!u)return!0;var f=!1,d=this.props!=r;if(u.__.some(function(p){p.__N&&(f=!0,At(p.__[0],p.__N[0])||(d=!0))}),s){var $=s.call(this,r,a,l);return f?$||d:$}return!f||d}}return o.__}function L(e,t){var n=Be(ye++,3);!U.__s&&Nt(n.__H,t)&&(n.__P=!0,n.__=e,n.u=t,K.__H.__h.push(n))}function Q(e,t){var n=Be(ye++,4);!U.__s&&Nt(n.__H,t)&&(n.__P=!1,n.__=e,n.u=t,K.__h.push(n))}function A(e){return Fe=5,J(function(){return{current:e}},[])}function J(e,t){var n=Be(ye++,7);return Nt(n.__H,t)&&(n.__=e(),n.__H=t),n.__}function qn(e,t){return Fe=8,J(function(){return e},t)}function $e(){var e=Be(ye++,11);if(!e.__){for(var t=K.__v;!t.__m&&t.__;)t=t.__;var n=t.__m||(t.__m=[0,0]);e.__="P"+n[0]+"-"+n[1]++}return e.__}function Es(){var e;do{for(;e=It.shift();)try{qe(e)}catch(n){U.__e(n,{__:(e=e.__P)&&e.__v})}for(;e=Wn.shift();){var t=e.__H;if(e.__P&&t)try{t.__h.some(qe),t.__h.some(Dt),t.__h=[]}catch(n){t.__h=[],U.__e(n,e.__v)}}}while(It.length)}U.__b=function(e){K=null,Ln&&Ln(e)},U.__=function(e,t){e&&t.__k&&t.__k.__m&&(e.__m=t.__k.__m),Dn&&Dn(e,t)},U.__r=function(e){jn&&jn(e),ye=0;var t=(K=e.__c).__H;t&&(Mt==K?K.__h=[]:(t.__h.some(qe),t.__h.some(Dt),ye=0),t.__h=[],t.__.some(function(n){n.__N&&(n.__=n.__N),n.u=n.__N=void 0})),Mt=K},U.diffed=function(e){Mn&&Mn(e);var t=e.__c;t&&t.__H&&(t.__H.__h.length&&Rn(Wn.push(t)),t.__H.__.some(function(n){n.u&&(n.__H=n.u)})),Mt=K=null},U.__c=function(e,t){t.some(function(n){try{n.__h.some(qe),n.__h=n.__h.filter(function(o){return!o.__||Dt(o)})}catch(o){n.__h=[function(){throw o}]}}),An&&An(e,t)},U.unmount=function(e){In&&In(e);var t,n,o=e.__c;o&&o.__H&&(o.__H.__.some(function(s){try{if(s.__P&&s.__c){if(n===void 0){for(n=e.__;n&&(!n.__c||!n.__c.__P);)n=n.__;n=n&&n.__c}s.__P=n,Rn(It.push(s))}else qe(s)}catch(r){t=r}}),o.__H=void 0,t&&U.__e(t,o.__v))};var Nn=typeof requestAnimationFrame=="function";function Ts(e){var t,n=function(){clearTimeout(o),Nn&&cancelAnimationFrame(t),setTimeout(e)},o=setTimeout(n,35);Nn&&(t=requestAnimationFrame(n))}function Rn(e){e!=1&&On==U.requestAnimationFrame||((On=U.requestAnimationFrame)||Ts)(Es)}function qe(e){var t=K,n=e.__c;typeof n=="function"&&(e.__c=void 0,n()),K=t}function Dt(e){var t=K;e.__c=e.__(),K=t}function Nt(e,t){return!e||e.length!=t.length||t.some(function(n,o){return!At(n,e[o])})}function Fn(e,t){return typeof t=="function"?t(e):t}var Bn=["case","state","variant","tag","stratum","q","sort","answer","with"];function Pe(){let e=new URLSearchParams(location.hash.slice(1));return Object.fromEntries(Bn.filter(t=>e.get(t)).map(t=>[t,e.get(t)]))}function Rt(e){let t=new URLSearchParams;for(let o of Bn)e[o]&&t.set(o,e[o]);let n=t.toString();return n?`#${n}`:""}function Wt(e){return location.href.split("#")[0]+Rt(e)}function Hn(){let[e,t]=x(Pe);L(()=>{let o=()=>t(Pe());return addEventListener("popstate",o),addEventListener("hashchange",o),()=>{removeEventListener("popstate",o),removeEventListener("hashchange",o)}},[]);let n=qn((o,{push:s=!1}={})=>{let r={...Pe(),...o},a=Wt(r);s?history.pushState({pushed:!0},"",a):history.replaceState(history.state,"",a),t(Pe())},[]);return[e,n]}function Oe(e){let[t,n]=x(()=>matchMedia(e).matches);return L(()=>{let o=matchMedia(e),s=()=>n(o.matches);return o.addEventListener("change",s),()=>o.removeEventListener("change",s)},[e]),t}var Un=2,Ps=150;function Os(e){return J(()=>e.ids.map((t,n)=>[t,e.snippets[n],e.strata[n]??"",...e.tags[n]].join(`
`).toLowerCase()),[e])}var Ls=()=>new Promise(e=>{globalThis.requestIdleCallback?requestIdleCallback(e,{timeout:100}):setTimeout(e)});function Kn(e,t){let n=(t??"").trim().toLowerCase(),o=Os(e),s=J(()=>{if(!n)return null;let l=new Set;return o.forEach((u,f)=>u.includes(n)&&l.add(f)),l},[o,n]),[r,a]=x({needle:"",hits:new Set,share:1});return L(()=>{if(n.length<Un)return;let l=!0,u=Math.ceil(e.n/e.chunk);async function f(){let d=new Set,$=performance.now();for(let p=0;p<u;p+=1){jt(e,p)||await Ls();let c=await Pn(e,p);if(!l)return;c.forEach((g,k)=>g.includes(n)&&d.add(p*e.chunk+k));let h=performance.now();p+1<u&&h-$<Ps||($=h,a({needle:n,hits:new Set(d),share:(p+1)/u}))}}return f().catch(d=>l&&a({needle:n,hits:new Set,share:1,error:d})),()=>{l=!1}},[e,n]),J(()=>s?r.needle!==n?{hits:s,share:n.length<Un?1:0}:{hits:r.hits.union?.(s)??new Set([...s,...r.hits]),share:r.share,error:r.error}:{hits:null,share:1},[s,r,n])}function js(e,t){if(!t)return e.order;let n=t.startsWith("-"),o=n?t.slice(1):t,s=e.columns.indexOf(o.replace(/^variant:/,"")),r=n?-1:1;if(o==="case"){let l=new Intl.Collator(void 0,{numeric:!0}).compare;return[...e.order].sort((u,f)=>r*l(e.ids[u],e.ids[f]))}if(s<0)return e.order;let a=e.cells[s].value;return[...e.order].sort((l,u)=>a[l]===null||a[u]===null?(a[l]===null)-(a[u]===null):r*(a[l]-a[u]))}function Jn(e,t,n){let o=J(()=>js(e,t.sort),[e,t.sort]);return J(()=>{let s=e.columns.indexOf(t.variant),r=s<0?null:e.cells[s],a=e.filters.find(d=>d.key===t.state)?.bit??0,l=Object.fromEntries(e.filters.map(d=>[d.key,0])),u=[],f=0;for(let d of o){if(n&&!n.has(d)||r&&r.state[d]===null||t.tag&&!e.tags[d].includes(t.tag)||t.stratum&&e.strata[d]!==t.stratum)continue;let $=r?r.mask[d]:e.masks[d];f+=1;for(let p of e.filters)$&p.bit&&(l[p.key]+=1);(!a||$&a)&&u.push(d)}return{rows:u,counts:l,all:f}},[e,o,t.state,t.variant,t.tag,t.stratum,n])}function Vn(e){let t=new Map;for(let n of e)t.set(n,(t.get(n)??0)+1);return[...t].sort(([n],[o])=>n.localeCompare(o))}function rt({label:e,value:t,options:n,onChoose:o}){return i`<label class="choice">
    <span>${e}</span>
    <select value=${t??""} onChange=${s=>o(s.target.value)}>
      ${n.map(([s,r])=>i`<option value=${s} selected=${s===(t??"")}>${r}</option>`)}
    </select>
  </label>`}function zn({filter:e,n:t,isOn:n,onClick:o}){return i`<button type="button" aria-pressed=${n} title=${e.title||null} disabled=${t===0&&!n} onClick=${o}>
    ${e.label} <span class="n">${t.toLocaleString("en")}</span>
  </button>`}function Gn({index:e,state:t,change:n,selection:o,search:s,searchBox:r,onFound:a,onHelp:l}){let u=Oe("(max-width: 44rem)"),[f,d]=x(!1),$=J(()=>Vn(e.tags.flat()),[e]),p=J(()=>Vn(e.strata.filter(b=>b!==null)),[e]),c=b=>C=>n({[b]:C},{push:!0}),h=(b,C)=>[["",C],...b.map(([j,O])=>[j,`${j} (${O.toLocaleString("en")})`])],g=[["","what needs attention first"],["case","by case"],...e.columns.flatMap(b=>[[`variant:${b}`,`${b}, lowest first`],[`-variant:${b}`,`${b}, highest first`]])],k=["variant","tag","stratum","sort"].filter(b=>t[b]).length,w=b=>{b.key!=="Escape"&&b.key!=="Enter"||(b.preventDefault(),b.target.blur(),b.key==="Enter"&&a())},_=Math.floor(s.share*100);return i`<div class="filters" role="search" aria-label="Cases">
    <div class="states" role="group" aria-label="Show">
      <${zn} filter=${{label:"All"}} n=${o.all} isOn=${!t.state}
        onClick=${()=>c("state")("")} />
      ${e.filters.map(b=>i`<${zn} key=${b.key} filter=${b}
        n=${o.counts[b.key]} isOn=${t.state===b.key}
        onClick=${()=>c("state")(t.state===b.key?"":b.key)} />`)}
    </div>
    <div class="searching">
      <input type="search" ref=${r} value=${t.q??""} placeholder="Search ids and all texts"
        aria-label="Search ids and all texts" onInput=${b=>n({q:b.target.value})}
        onKeyDown=${w} />
      ${u&&i`<button type="button" aria-expanded=${f} onClick=${()=>d(!f)}>
        Filters${k>0&&` (${k})`}</button>`}
      <button type="button" onClick=${l} aria-label="Keyboard shortcuts" title="Keyboard shortcuts (?)">?</button>
    </div>
    ${(!u||f)&&i`<div class="choices">
      ${e.columns.length>1&&i`<${rt} label="variant" value=${t.variant} onChoose=${c("variant")}
        options=${[["","any"],...e.columns.map(b=>[b,b])]} />`}
      ${$.length>0&&i`<${rt} label="tag" value=${t.tag} onChoose=${c("tag")} options=${h($,"any")} />`}
      ${p.length>0&&i`<${rt} label="stratum" value=${t.stratum} onChoose=${c("stratum")} options=${h(p,"any")} />`}
      <${rt} label="order" value=${t.sort} onChoose=${c("sort")} options=${g} />
    </div>`}
    <p class="count">
      <span role="status">${o.rows.length.toLocaleString("en")} of ${e.n.toLocaleString("en")} ${e.n===1?"case":"cases"}</span>
      ${s.share<1&&i`<span class="progress">, searching all texts: ${_} %</span>`}
      ${s.error&&i`<span class="fail">, the texts could not be searched: ${s.error.message}</span>`}
      ${Ms(t)&&i` <button type="button" class="plain" onClick=${()=>n({state:"",variant:"",tag:"",stratum:"",q:"",sort:""},{push:!0})}>Show all</button>`}
    </p>
  </div>`}function Ms(e){return["state","variant","tag","stratum","q","sort"].some(t=>e[t])}var As=34,Is=108,Yn=8;function Ds(e,t){if(t===null)return 2;let n=e==="fail"?1-t:t;return 1+Math.min(3,Math.max(0,Math.floor(n*4)))}function Ns({index:e,column:t,row:n,isAt:o,tag:s="td"}){let r=e.cells[t],a=r.state[n],l=e.columns[t],u=s==="td"?"cell":null;if(a===null)return s==="td"&&i`<td role="cell" class=${o?"cell at":"cell"} data-column=${t}></td>`;let{label:f,sign:d,tone:$}=e.states[a],p=r.value[n],c=r.text[n]||(p===null?"":st(p));return i`<${s} role=${u} class=${`cell ${$}-fill s${Ds($,p)}${o?" at":""}`}
    data-column=${t} title=${`${l}: ${f}`}>
    ${s!=="td"&&i`<bdi class="name">${l}</bdi> `}
    <span class=${`sign ${$}`} aria-hidden="true">${d}</span> ${c||i`<span class="word">${f}</span>`}
    ${c&&i`<span class="hidden">, ${f}</span>`}
  <//>`}function Qn({name:e,sortKey:t,state:n,change:o,className:s}){let r=n.sort===t,a=n.sort===`-${t}`,l=r?`-${t}`:a?"":t;return i`<th scope="col" role="columnheader" class=${s} aria-sort=${r?"ascending":a?"descending":null}>
    <button type="button" class="sort" title=${`Sort by ${e}`} onClick=${()=>o({sort:l},{push:!0})}>
      <bdi>${e}</bdi><span aria-hidden="true">${r?" ▲":a?" ▼":""}</span>
    </button>
  </th>`}function Xn({index:e,rows:t,state:n,change:o,active:s,setActive:r,column:a,openRow:l,focusing:u}){let f=A(null),d=A(!1),$=Oe("(max-width: 44rem)"),p=$?Is:As,[c,h]=x({top:0,height:800}),g=()=>{let{scrollTop:m,clientHeight:y}=f.current,E=Math.floor(m/p)*p;h(D=>D.top===E&&D.height===y?D:{top:E,height:y})};Q(()=>{g();let m=new ResizeObserver(g);return m.observe(f.current),()=>m.disconnect()},[p,t.length]),Q(()=>{f.current.scrollTop=0},[n.state,n.variant,n.tag,n.stratum,n.q,n.sort]),Q(()=>{if(s<0)return;let{scrollTop:m,clientHeight:y}=f.current,E=s*p;E<m?f.current.scrollTop=E:E+2*p>m+y&&(f.current.scrollTop=E+2*p-y),g()},[s,p]);let k=Math.max(0,Math.floor(c.top/p)-Yn),w=Math.min(t.length,Math.ceil((c.top+c.height)/p)+Yn);L(()=>{if(u.current===s&&s>=k&&s<w){u.current=-1;let m=f.current.querySelector(`[data-place="${s}"]`);d.current=!0,m.querySelector("a").focus({preventScroll:!0}),d.current=!1,m.scrollIntoView({block:"nearest"})}});let _=e.tags.some(m=>m.length>0)||e.strata.some(m=>m!==null),b=m=>[e.strata[m],...e.tags[m]].filter(Boolean),C=2+(_?1:0)+e.columns.length,j=m=>i`<tr role="presentation" class="spacer" aria-hidden="true">
    <td role="presentation" colspan=${C} ref=${y=>y&&(y.style.height=`${m*p}px`)}></td></tr>`,O=m=>{m&&(m.style.minWidth=$?"":`${(_?540:420)+108*e.columns.length}px`)},R=m=>{let y=m.target.closest("tr[data-row]");if(!y||m.ctrlKey||m.metaKey||m.shiftKey||!getSelection().isCollapsed)return;m.preventDefault();let E=m.target.closest("[data-column]")?.dataset.column;r(Number(y.dataset.place)),l(Number(y.dataset.row),E===void 0?void 0:e.columns[E])},P=e.columns.length<=4&&e.columns.some(m=>m.length>12);return i`<div class=${P?"grid few":"grid"} ref=${f} onScroll=${g}>
    <table role="table" aria-label="Cases" aria-rowcount=${t.length+1} ref=${O} onClick=${R}>
      <colgroup><col class="c-id" /><col />${_&&i`<col class="c-tags" />`}
        ${e.columns.map(()=>i`<col class="c-value" />`)}</colgroup>
      <thead role="rowgroup"><tr role="row" aria-rowindex="1">
        <${Qn} name="case" sortKey="case" state=${n} change=${o} />
        <th scope="col" role="columnheader">input</th>
        ${_&&i`<th scope="col" role="columnheader">tags</th>`}
        ${e.columns.map(m=>i`<${Qn} key=${m} name=${m} sortKey=${`variant:${m}`} state=${n} change=${o} />`)}
      </tr></thead>
      <tbody role="rowgroup">
        ${k>0&&j(k)}
        ${t.slice(k,w).map((m,y)=>{let E=k+y,D=E===s,N=S=>e.columns.map((v,W)=>i`<${Ns} key=${v} tag=${S} index=${e} column=${W} row=${m} isAt=${D&&W===a} />`);return i`<tr key=${m} role="row" data-row=${m} data-place=${E} aria-rowindex=${E+2} class=${D?"active":null}>
            <th scope="row" role="rowheader" class="id"><a href=${Rt({...n,case:e.ids[m]})}
              tabindex=${D||s<0&&E===0?0:-1}
              onFocus=${()=>d.current||r(E)}><bdi>${e.ids[m]}</bdi></a></th>
            <td role="cell" class="snippet" dir="auto">${e.snippets[m]}</td>
            ${_&&i`<td role="cell" class="tags" title=${b(m).join(", ")}>${b(m).map(S=>i`<bdi class="tag">${S}</bdi> `)}</td>`}
            ${$?i`<td role="cell" class="cells">${N("span")}</td>`:N("td")}
          </tr>`})}
        ${w<t.length&&j(t.length-w)}
      </tbody>
    </table>
    ${t.length===0&&i`<p class="empty">${e.n===0?"There are no cases yet.":"No case matches. “Show all” removes the filters."}</p>`}
  </div>`}var Zn="judgekit-single-keys";function Rs(){try{return localStorage.getItem(Zn)!=="off"}catch{return!0}}function Ws(e){try{localStorage.setItem(Zn,e?"on":"off")}catch{}}function eo(){let[e,t]=x(Rs);return[e,n=>{Ws(n),t(n)}]}function Le(e,t){let n=A(null);n.current=t?e:{},L(()=>{let o=s=>{if(s.defaultPrevented||s.ctrlKey||s.metaKey||s.altKey||s.target.closest?.("input:not([type=checkbox]), select, textarea, [contenteditable]"))return;let r=n.current[s.key];r&&r()!==!1&&s.preventDefault()};return document.addEventListener("keydown",o),()=>document.removeEventListener("keydown",o)},[])}function qt({label:e,className:t,onClose:n,children:o}){let s=A(null);return L(()=>{s.current.showModal(),s.current.focus()},[]),i`<dialog ref=${s} class=${t} aria-label=${e} tabindex="-1"
    onCancel=${r=>{r.preventDefault(),n()}}
    onClick=${r=>r.target===s.current&&n()}>${o}</dialog>`}function to({rows:e,isOn:t,setOn:n,onClose:o}){return i`<${qt} label="Keyboard shortcuts" className="help" onClose=${o}>
    <div class="inside">
      <header><h2>Keyboard shortcuts</h2><button type="button" onClick=${o} aria-label="Close">✕</button></header>
      <table><tbody>${e.map(([s,r])=>i`<tr>
        <th scope="row">${s.split(" ").map(a=>i`<kbd>${a}</kbd> `)}</th><td>${r}</td></tr>`)}</tbody></table>
      <label class="check"><input type="checkbox" checked=${t} onChange=${s=>n(s.target.checked)} />
        Use shortcuts of a single key</label>
    </div>
  <//>`}var qs=/\r(?!\n)|[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]|\udb40[\udc00-\udc7f]/g,Fs=/^ {0,3}(```|~~~)[^\n]*\n[\s\S]*?(?:^ {0,3}\1[^\n]*$|$(?![\s\S]))/gm;function F(e){let t=[],n=0;for(let o of e.matchAll(qs)){let s=`U+${o[0].codePointAt(0).toString(16).toUpperCase().padStart(4,"0")}`;t.push(e.slice(n,o.index),i`<span class="chip" title="invisible character">${s}</span>`),n=o.index+o[0].length}return n?[...t,e.slice(n)]:e}function Bs(e,t,n){let o=new Set([0,e.length]);for(let{start:r,end:a}of[...t,...n])o.add(r).add(a);let s=[...o].sort((r,a)=>r-a);return s.slice(1).map((r,a)=>{let l=s[a],u=f=>f.start<=l&&r<=f.end;return{start:l,end:r,marks:t.filter(u),isCode:n.some(u)}})}function X({text:e,mono:t=!1,marks:n=[],at:o=null,onPick:s=null,label:r=null}){let a=t?[]:[...e.matchAll(Fs)].map(u=>({start:u.index,end:u.index+u[0].length})),l=Bs(e,n,a).map(u=>{let f=F(e.slice(u.start,u.end)),d=u.isCode?i`<span class="code">${f}</span>`:f;if(u.marks.length===0)return d;let $=u.marks.filter(w=>w.no),p=u.marks.map(w=>w.note).filter(Boolean),c=$.map(w=>w.no),h=$.filter(w=>w.end===u.end).map(w=>w.no),g=c.length>0?[`${c.length>1?"quotes":"quote"} ${c.join(", ")}`]:[],k=[`n${Math.min(3,u.marks.length)}`,c.includes(o)&&"at",p.length>0&&"scrubbed"];return i`<mark class=${k.filter(Boolean).join(" ")}
      data-quotes=${c.join(" ")} data-ends=${h.join(" ")||null}
      title=${[...g,...p].join("; ")}
      onClick=${s&&c.length>0?()=>s(c[0]):null}>${d}${p.length>0&&i`<span class="hidden"> (${p.join("; ")})</span>`}</mark>`});return i`<div class=${`passage${t?" mono":""}`} dir="auto" tabindex="0" role="group" aria-label=${r}>${l}</div>`}var Hs={pass:"✓",fail:"✗",inconclusive:"?",error:"!"};function me({tone:e,children:t}){return i`<span class=${`badge ${e}-fill`}><span class=${e} aria-hidden="true">${Hs[e]??""}</span> ${t}</span>`}function He({facts:e}){return e.length>0&&i`<p class="facts">${e.map((t,n)=>i`${n>0&&" · "}<bdi>${F(t)}</bdi>`)}</p>`}function Us({quote:e,isAt:t,onPick:n}){let o=e.match===null?i`<span class="fail">not found in the output</span>`:e.match==="exact"?null:i`<span class="note">found but for white space</span>`;return i`<li class=${t?"at":null} data-quote=${e.no}>
    ${e.match===null?i`<span class="number" aria-hidden="true">${e.no}</span>`:i`<button type="button" class="number" onClick=${()=>n(e.no)} title="Show it in the output">
          <span class="hidden">quote </span>${e.no}</button>`}
    <q dir="auto">${F(e.text)}</q> ${o}</li>`}function no({exchange:e,omitted:t,isOpen:n}){return e?i`<details class="exchange" open=${n}>
    <summary>Prompt and reply</summary>
    ${e.note&&i`<p class="note">${e.note}</p>`}
    ${e.messages.map(o=>i`<h5>${o.role}</h5><${X} text=${o.text} label=${o.role} />`)}
    ${e.reply!==null&&i`<h5>reply</h5><${X} text=${e.reply} mono label="reply" />`}
  </details>`:t&&i`<details class="exchange" open=${n}><summary>Prompt and reply</summary><p class="note">${t}</p></details>`}function Ks({judgment:e,exchange:t,view:n}){return i`<div class="judgment">
    <p><strong>${e.score}</strong><span class="dim"> → ${e.value}</span> <span class="dim"><bdi>${F(e.judge)}</bdi></span></p>
    <${He} facts=${e.facts} />
    <p class="rationale" dir="auto">${F(e.rationale)}</p>
    ${e.quotes.length>0&&i`<ol class="quotes">${e.quotes.map(o=>i`<${Us} key=${o.no} quote=${o} isAt=${n.quote===o.no} onPick=${n.pick} />`)}</ol>`}
    <${no} exchange=${t} omitted=${n.omitted} isOpen=${n.isPromptOpen} />
  </div>`}function Js({failure:e,exchange:t,view:n}){return i`<div class="judgment">
    <p><${me} tone="error">no judgment: ${e.kind}<//> <span class="dim"><bdi>${F(e.judge)}</bdi></span></p>
    <p class="rationale" dir="auto">${F(e.message)}</p>
    ${e.reply&&i`<details><summary>What the judge wrote</summary><${X} text=${e.reply} mono label="reply" /></details>`}
    <${no} exchange=${t} omitted=${n.omitted} isOpen=${n.isPromptOpen} />
  </div>`}function Vs(e){let t=new Map(e.criteria.map(s=>[s.name,{...s,judgments:[],failures:[]}])),n=s=>(t.has(s)||t.set(s,{name:s,value:"",tone:"neutral",facts:[],judgments:[],failures:[]}),t.get(s)),o=s=>e.exchanges[e.exchange_of[s]]??null;return e.judgments.forEach((s,r)=>n(s.criterion).judgments.push([s,o(r)])),e.failures.forEach((s,r)=>n(s.criterion).failures.push([s,o(e.judgments.length+r)])),[...t.values()]}function zs({group:e,question:t,view:n}){return i`<section class=${`criterion ${e.tone}-edge`}>
    <h4><bdi>${F(e.name)}</bdi> ${e.value&&i`<${me} tone=${e.tone}>${e.value}<//>`}</h4>
    <${He} facts=${e.facts} />
    ${t&&i`<p class="question" dir="auto">${F(t)}</p>`}
    ${e.judgments.map(([o,s])=>i`<${Ks} judgment=${o} exchange=${s} view=${n} />`)}
    ${e.failures.map(([o,s])=>i`<${Js} failure=${o} exchange=${s} view=${n} />`)}
  </section>`}function oo({check:e}){return i`<li><${me} tone=${e.tone==="inconclusive"?"error":e.tone}>${e.word}<//> <strong>${F(e.type)}</strong>
    <span dir="auto"> ${F(e.message)}</span>
    ${e.actual!==null&&i`<div class="dim">found <code>${F(e.actual)}</code></div>`}
    ${e.parts.length>0&&i`<ul class="checks">${e.parts.map(t=>i`<${oo} check=${t} />`)}</ul>`}
  </li>`}function so({answer:e,view:t}){return i`
    <h3>output</h3>
    ${e.error!==null&&i`<p class="no-output"><${me} tone="error">no output<//> <span dir="auto">${F(e.error)}</span></p>`}
    ${e.output?i`<${X} text=${e.output} mono=${e.mono} marks=${e.marks} at=${t.quote} onPick=${t.pick} label="output" />`:e.error===null&&i`<p class="note">The output is empty.</p>`}
    ${e.steps&&i`<h3>steps, as the judge was shown them</h3>
      <${X} text=${e.steps.text} marks=${e.steps.marks} at=${t.quote} onPick=${t.pick} label="steps" />`}`}function ro({answer:e,questions:t,view:n}){let o=Vs(e);return i`
    ${e.checks.length>0&&i`<h3>assertions</h3><ul class="checks">${e.checks.map(s=>i`<${oo} check=${s} />`)}</ul>`}
    ${o.length>0&&i`<h3>judgments</h3>${o.map(s=>i`<${zs} key=${s.name} group=${s} question=${t[s.name]} view=${n} />`)}`}
    ${e.scores.length>0&&i`<h3>scores</h3><table class="scores"><tbody>${e.scores.map(s=>i`<tr>
      <th scope="row"><bdi>${F(s.name)}</bdi></th><td class="number">${s.value}</td><td dir="auto">${F(s.text)}</td></tr>`)}</tbody></table>`}
    ${e.checks.length+o.length+e.scores.length===0&&i`<p class="note">Nothing was checked or judged.</p>`}`}var Gs=400;function Ys({title:e,text:t,mono:n}){let o=i`<${X} text=${t} mono=${n} label=${e||"content"} />`;return t.length<=Gs?i`${e&&i`<div class="part">${F(e)}</div>`}${o}`:i`<details><summary>${F(e)||"content"}, ${t.length.toLocaleString("en")} characters</summary>${o}</details>`}function ao({trace:e}){let t=Math.max(0,...e.map(o=>o.ms??0)),n=o=>s=>s&&(s.style.width=`${Math.max(1,100*o.ms/t)}%`);return i`<ol class="timeline">
    ${e.map(o=>i`<li class=${o.is_error?"is-error":null}>
      <div class="event"><span class="type">${o.is_error?"! ":""}${F(o.type)}</span>
        ${o.name&&i`<strong><bdi>${F(o.name)}</bdi></strong>`}
        ${o.took&&i`<span class="took">${o.took}</span>`}
      </div>
      ${o.ms!==null&&t>0&&i`<div class="track" aria-hidden="true"><div ref=${n(o)}></div></div>`}
      ${o.parts.map(s=>i`<${Ys} ...${s} />`)}
    </li>`)}
  </ol>`}var he=class{diff(t,n,o={}){let s;typeof o=="function"?(s=o,o={}):"callback"in o&&(s=o.callback);let r=this.castInput(t,o),a=this.castInput(n,o),l=this.removeEmpty(this.tokenize(r,o)),u=this.removeEmpty(this.tokenize(a,o));return this.diffWithOptionsObj(l,u,o,s)}diffWithOptionsObj(t,n,o,s){var r;let a=_=>{if(_=this.postProcess(_,o),s){setTimeout(function(){s(_)},0);return}else return _},l=n.length,u=t.length,f=1,d=l+u;o.maxEditLength!=null&&(d=Math.min(d,o.maxEditLength));let $=(r=o.timeout)!==null&&r!==void 0?r:1/0,p=Date.now()+$,c=[{oldPos:-1,lastComponent:void 0}],h=this.extractCommon(c[0],n,t,0,o);if(c[0].oldPos+1>=u&&h+1>=l)return a(this.buildValues(c[0].lastComponent,n,t));let g=-1/0,k=1/0,w=()=>{for(let _=Math.max(g,-f);_<=Math.min(k,f);_+=2){let b,C=c[_-1],j=c[_+1];C&&(c[_-1]=void 0);let O=!1;if(j){let P=j.oldPos-_;O=j&&0<=P&&P<l}let R=C&&C.oldPos+1<u;if(!O&&!R){c[_]=void 0;continue}if(!R||O&&C.oldPos<j.oldPos?b=this.addToPath(j,!0,!1,0,o):b=this.addToPath(C,!1,!0,1,o),h=this.extractCommon(b,n,t,_,o),b.oldPos+1>=u&&h+1>=l)return a(this.buildValues(b.lastComponent,n,t))||!0;c[_]=b,b.oldPos+1>=u&&(k=Math.min(k,_-1)),h+1>=l&&(g=Math.max(g,_+1))}f++};if(s)(function _(){setTimeout(function(){if(f>d||Date.now()>p)return s(void 0);w()||_()},0)})();else for(;f<=d&&Date.now()<=p;){let _=w();if(_)return _}}addToPath(t,n,o,s,r){let a=t.lastComponent;return a&&!r.oneChangePerToken&&a.added===n&&a.removed===o?{oldPos:t.oldPos+s,lastComponent:{count:a.count+1,added:n,removed:o,previousComponent:a.previousComponent}}:{oldPos:t.oldPos+s,lastComponent:{count:1,added:n,removed:o,previousComponent:a}}}extractCommon(t,n,o,s,r){let a=n.length,l=o.length,u=t.oldPos,f=u-s,d=0;for(;f+1<a&&u+1<l&&this.equals(o[u+1],n[f+1],r);)f++,u++,d++,r.oneChangePerToken&&(t.lastComponent={count:1,previousComponent:t.lastComponent,added:!1,removed:!1});return d&&!r.oneChangePerToken&&(t.lastComponent={count:d,previousComponent:t.lastComponent,added:!1,removed:!1}),t.oldPos=u,f}equals(t,n,o){return o.comparator?o.comparator(t,n):t===n||!!o.ignoreCase&&t.toLowerCase()===n.toLowerCase()}removeEmpty(t){let n=[];for(let o=0;o<t.length;o++)t[o]&&n.push(t[o]);return n}castInput(t,n){return t}tokenize(t,n){return Array.from(t)}join(t){return t.join("")}postProcess(t,n){return t}get useLongestToken(){return!1}buildValues(t,n,o){let s=[],r;for(;t;)s.push(t),r=t.previousComponent,delete t.previousComponent,t=r;s.reverse();let a=s.length,l=0,u=0,f=0;for(;l<a;l++){let d=s[l];if(d.removed)d.value=this.join(o.slice(f,f+d.count)),f+=d.count;else{if(!d.added&&this.useLongestToken){let $=n.slice(u,u+d.count);$=$.map(function(p,c){let h=o[f+c];return h.length>p.length?h:p}),d.value=this.join($)}else d.value=this.join(n.slice(u,u+d.count));u+=d.count,d.added||(f+=d.count)}}return s}};function Ft(e,t){let n;for(n=0;n<e.length&&n<t.length;n++)if(e[n]!=t[n])return e.slice(0,n);return e.slice(0,n)}function Bt(e,t){let n;if(!e||!t||e[e.length-1]!=t[t.length-1])return"";for(n=0;n<e.length&&n<t.length;n++)if(e[e.length-(n+1)]!=t[t.length-(n+1)])return e.slice(-n);return e.slice(-n)}function at(e,t,n){if(e.slice(0,t.length)!=t)throw Error(`string ${JSON.stringify(e)} doesn't start with prefix ${JSON.stringify(t)}; this is a bug`);return n+e.slice(t.length)}function it(e,t,n){if(!t)return e+n;if(e.slice(-t.length)!=t)throw Error(`string ${JSON.stringify(e)} doesn't end with suffix ${JSON.stringify(t)}; this is a bug`);return e.slice(0,-t.length)+n}function je(e,t){return at(e,t,"")}function Ue(e,t){return it(e,t,"")}function Ht(e,t){return t.slice(0,Qs(e,t))}function Qs(e,t){let n=0;e.length>t.length&&(n=e.length-t.length);let o=t.length;e.length<t.length&&(o=e.length);let s=Array(o),r=0;s[0]=0;for(let a=1;a<o;a++){for(t[a]==t[r]?s[a]=s[r]:s[a]=r;r>0&&t[a]!=t[r];)r=s[r];t[a]==t[r]&&r++}r=0;for(let a=n;a<e.length;a++){for(;r>0&&e[a]!=t[r];)r=s[r];e[a]==t[r]&&r++}return r}function Ut(e,t){let n=[];for(let o of Array.from(t.segment(e))){let s=o.segment;n.length&&/\s/.test(n[n.length-1])&&/\s/.test(s)?n[n.length-1]+=s:n.push(s)}return n}function lt(e,t){if(t)return Me(e,t)[1];let n;for(n=e.length-1;n>=0&&e[n].match(/\s/);n--);return e.substring(n+1)}function we(e,t){if(t)return Me(e,t)[0];let n=e.match(/^\s*/);return n?n[0]:""}function Me(e,t){if(!t)return[we(e),lt(e)];if(t.resolvedOptions().granularity!="word")throw new Error('The segmenter passed must have a granularity of "word"');let n=Ut(e,t),o=n[0],s=n[n.length-1],r=/\s/.test(o)?o:"",a=/\s/.test(s)?s:"";return[r,a]}var ct="a-zA-Z0-9_\\u{AD}\\u{C0}-\\u{D6}\\u{D8}-\\u{F6}\\u{F8}-\\u{2C6}\\u{2C8}-\\u{2D7}\\u{2DE}-\\u{2FF}\\u{1E00}-\\u{1EFF}",Xs=new RegExp(`[${ct}]+|\\s+|[^${ct}]`,"ug"),Kt=class extends he{equals(t,n,o){return o.ignoreCase&&(t=t.toLowerCase(),n=n.toLowerCase()),t.trim()===n.trim()}tokenize(t,n={}){let o;if(n.intlSegmenter){let a=n.intlSegmenter;if(a.resolvedOptions().granularity!="word")throw new Error('The segmenter passed must have a granularity of "word"');o=Ut(t,a)}else o=t.match(Xs)||[];let s=[],r=null;return o.forEach(a=>{/\s/.test(a)?r==null?s.push(a):s.push(s.pop()+a):r!=null&&/\s/.test(r)?s[s.length-1]==r?s.push(s.pop()+a):s.push(r+a):s.push(a),r=a}),s}join(t){return t.map((n,o)=>o==0?n:n.replace(/^\s+/,"")).join("")}postProcess(t,n){if(!t||n.oneChangePerToken)return t;let o=null,s=null,r=null;return t.forEach(a=>{a.added?s=a:a.removed?r=a:((s||r)&&io(o,r,s,a,n.intlSegmenter),o=a,s=null,r=null)}),(s||r)&&io(o,r,s,null,n.intlSegmenter),t}},lo=new Kt;function Vt(e,t,n){return n?.ignoreWhitespace!=null&&!n.ignoreWhitespace?ut(e,t,n):lo.diff(e,t,n)}function io(e,t,n,o,s){if(t&&n){let[r,a]=Me(t.value,s),[l,u]=Me(n.value,s);if(e){let f=Ft(r,l);e.value=it(e.value,l,f),t.value=je(t.value,f),n.value=je(n.value,f)}if(o){let f=Bt(a,u);o.value=at(o.value,u,f),t.value=Ue(t.value,f),n.value=Ue(n.value,f)}}else if(n){if(e){let r=we(n.value,s);n.value=n.value.substring(r.length)}if(o){let r=we(o.value,s);o.value=o.value.substring(r.length)}}else if(e&&o){let r=we(o.value,s),[a,l]=Me(t.value,s),u=Ft(r,a);t.value=je(t.value,u);let f=Bt(je(r,u),l);t.value=Ue(t.value,f),o.value=at(o.value,r,f),e.value=it(e.value,r,r.slice(0,r.length-f.length))}else if(o){let r=we(o.value,s),a=lt(t.value,s),l=Ht(a,r);t.value=Ue(t.value,l)}else if(e){let r=lt(e.value,s),a=we(t.value,s),l=Ht(r,a);t.value=je(t.value,l)}}var Jt=class extends he{tokenize(t){let n=new RegExp(`(\\r?\\n)|[${ct}]+|[^\\S\\n\\r]+|[^${ct}]`,"ug");return t.match(n)||[]}},co=new Jt;function ut(e,t,n){return co.diff(e,t,n)}var zt=class extends he{constructor(){super(...arguments),this.tokenize=Zs}equals(t,n,o){return o.ignoreWhitespace?((!o.newlineIsToken||!t.includes(`
`))&&(t=t.trim()),(!o.newlineIsToken||!n.includes(`
`))&&(n=n.trim())):o.ignoreNewlineAtEof&&!o.newlineIsToken&&(t.endsWith(`
`)&&(t=t.slice(0,-1)),n.endsWith(`
`)&&(n=n.slice(0,-1))),super.equals(t,n,o)}},uo=new zt;function Ke(e,t,n){return uo.diff(e,t,n)}function Zs(e,t){t.stripTrailingCr&&(e=e.replace(/\r\n/g,`
`));let n=[],o=e.split(/(\n|\r\n)/);o[o.length-1]||o.pop();for(let s=0;s<o.length;s++){let r=o[s];s%2&&!t.newlineIsToken?n[n.length-1]+=r:n.push(r)}return n}var fo=300,er=.2,Gt=typeof Intl.Segmenter=="function"?new Intl.Segmenter(void 0,{granularity:"word"}):void 0;function tr(e,t){return!e||!t?[{value:e||t,removed:!t,added:!e}]:Vt(e,t,{intlSegmenter:Gt,timeout:fo})??Ke(e,t,{timeout:fo})??null}function nr(e,t,n){return e.filter(r=>!r.added&&!r.removed).reduce((r,a)=>r+a.value.trim().length,0)/Math.max(1,Math.min(t.trim().length,n.trim().length))}function or(e){return Gt?[...Gt.segment(e)].filter(t=>t.isWordLike).length:e.split(/\s+/).filter(Boolean).length}function sr(e,t){if(e===t)return{summary:e?"Both texts are the same.":"Both texts are empty.",parts:[]};let n=tr(e,t);if(n&&!n.some(s=>s.added||s.removed))return{summary:"Only white space differs.",parts:n};if(!n||e&&t&&nr(n,e,t)<er)return{summary:"The texts have little in common.",parts:[{value:e,removed:!0},{value:t,added:!0}],isWhole:!0};let o=s=>n.reduce((r,a)=>r+(a[s]?or(a.value):0),0);return{summary:`Words removed: ${o("removed")}. Words added: ${o("added")}.`,parts:n}}function rr({part:e,isWhole:t}){if(!e.added&&!e.removed)return e.value;let[n,o]=e.added?["ins","added: "]:["del","removed: "];return i`<${n} class=${t?"whole":""}><span class="hidden">${o}</span>${e.value}<span class="hidden">, end. </span></${n}>`}function ke({a:e,b:t}){let n=J(()=>sr(e,t),[e,t]);return i`
    <div class="word-diff">
      <p class="note" role="status">${n.summary}</p>
      ${n.parts.length>0&&i`
        <div class="diff-text" dir="auto" tabindex="-1">
          ${n.parts.map(o=>i`<${rr} part=${o} isWhole=${n.isWhole} />`)}
        </div>`}
    </div>`}var ar=new Set(["sides","comparison","ranking","items","changes"]),$o=e=>ar.has(e);function mo({facts:e}){return e?.length>0&&i`<p class="note">${e.join(" · ")}</p>`}function Yt({output:e}){return i`
    <section class="side">
      <h4><bdi>${e.name}</bdi></h4>
      <${mo} facts=${e.facts} />
      ${e.error&&i`<p class="error">${e.error}</p>`}
      ${e.output&&i`<${X} text=${e.output} marks=${e.marks} label=${e.name} />`}
      ${!e.output&&!e.error&&i`<p class="note">The output is empty.</p>`}
    </section>`}function po({label:e,outputs:t,value:n,onPick:o}){return i`<label>${e} <select value=${n} onChange=${s=>o(Number(s.target.value))}>
    ${t.map((s,r)=>i`<option value=${r} selected=${r===n}>${s.name}</option>`)}
  </select></label>`}function ir(e){let t=e.findIndex(n=>n.column!==e[0].column);return[0,t<0?Math.min(1,e.length-1):t]}function lr(e){return e.closest?.("input, textarea, select, [contenteditable]")}function cr({outputs:e,areKeysOn:t}){let[[n,o],s]=x(ir(e)),[r,a]=x(!1),l=A(null),u=()=>s(([$,p])=>[p,$]);if(L(()=>{if(!t)return;let $=p=>{if(!(p.ctrlKey||p.metaKey||p.altKey||lr(p.target))){if(p.key==="s")u();else if(p.key==="d")a(c=>!c);else if(p.key==="n"||p.key==="N")ur(l.current,p.key==="n"?1:-1);else return;p.preventDefault()}};return document.addEventListener("keydown",$),()=>document.removeEventListener("keydown",$)},[t]),e.length===0)return i`<p class="note">The output is not known here.</p>`;if(e.length===1)return i`<${Yt} output=${e[0]} />`;let[f,d]=[e[n],e[o]];return i`
    <div class="pair" ref=${l}>
      <div class="pair-tools">
        ${e.length>2&&i`
          <${po} label="Left" outputs=${e} value=${n} onPick=${$=>s([$,o])} />
          <${po} label="Right" outputs=${e} value=${o} onPick=${$=>s([n,$])} />`}
        <button type="button" aria-pressed=${r} aria-keyshortcuts="d" onClick=${()=>a(!r)}>Word diff</button>
        <button type="button" aria-keyshortcuts="s" onClick=${u}>Swap sides</button>
      </div>
      ${r?i`<h4>From <bdi>${f.name}</bdi> to <bdi>${d.name}</bdi></h4><${ke} a=${f.output} b=${d.output} />`:i`<div class="pair-columns"><${Yt} output=${f} key=${n} /><${Yt} output=${d} key=${`right-${o}`} /></div>`}
    </div>`}function ur(e,t){let n=[...e?.querySelectorAll("ins, del")??[]];if(n.length===0)return;let o=n.findIndex(r=>r.classList.contains("current")),s=n[(o+t+n.length)%n.length];n[o]?.classList.remove("current"),s.classList.add("current"),s.tabIndex=-1,s.focus(),s.scrollIntoView({block:"nearest"})}function dr({quote:e}){let t=e.of?`output ${e.of}`:"the output",n={exact:"",normalized:"",fuzzy:"similar passage"}[e.match]??`not in ${t}`;return i`<li><q dir="auto">${e.text}</q> <sup>${e.no}</sup> <span class="note">${[e.of&&e.match?t:"",e.match?n:`not in ${t}`].filter(Boolean).join(", ")}</span></li>`}function fr({row:e}){return i`
    <div class="opinion">
      <p><bdi>${e.who}</bdi>: <strong class=${e.tone}>${e.score}</strong></p>
      <${mo} facts=${e.facts} />
      ${e.rationale?i`<p class="rationale" dir="auto">${e.rationale}</p>`:i`<p class="note">no reason</p>`}
      ${e.quotes.length>0&&i`<ul class="pair-quotes">${e.quotes.map(t=>i`<${dr} quote=${t} />`)}</ul>`}
    </div>`}function pr({point:e}){return i`<li><span dir="auto">${e.text}</span>
    ${e.quote&&i` <q dir="auto">${e.quote}</q>`}
    ${e.after&&i`<${ke} a=${e.before} b=${e.after} />`}</li>`}function $r(e){let t=new Map,n=(o,s)=>t.set(o,[...t.get(o)??[],s]);for(let o of e){for(let s of o.judgments??[]){let r=[s.judge,...s.facts];n(s.criterion,{...s,who:o.name,facts:r})}for(let s of o.failures??[]){let r={score:s.kind,tone:"inconclusive",rationale:s.message};n(s.criterion,{...r,who:o.name,facts:[s.judge],quotes:[]})}for(let s of o.checks??[]){let r=s.actual===null?[]:[s.actual];n(s.type,{who:o.name,score:s.word,tone:s.tone,facts:r,rationale:s.message,quotes:[]})}}return[...t].map(([o,s])=>({title:o,rows:s}))}function ho({row:e,areKeysOn:t=!0}){let n=e.opinions??$r(e.answers);return i`
    <div class="pair-body">
      ${e.texts.map(o=>i`
        <details open=${o.title==="input"}><summary>${o.title}</summary><${X} text=${o.text} mono=${o.mono} label=${o.title} /></details>`)}
      <h3>${e.answers.length>1?"Outputs":"Output"}</h3>
      <${cr} outputs=${e.answers} areKeysOn=${t} key=${e.id} />
      ${n.length>0&&i`<h3>Judgments</h3>`}
      ${n.map(o=>i`
        <section class="group">
          <h4><bdi>${o.title}</bdi></h4>
          ${o.result&&i`<p class="result">${o.result}</p>`}
          <div class="pair-columns">${o.rows.map(s=>i`<${fr} row=${s} />`)}</div>
        </section>`)}
      ${(e.points??[]).map(o=>i`
        <h3>${o.title}</h3>
        <ul>${o.points.map(s=>i`<${pr} point=${s} />`)}</ul>`)}
    </div>`}function mr(e,t){let[n,o]=x(null);return L(()=>{let s=!0;return En(e,t).then(r=>s&&o({place:t,row:r}),r=>s&&o({place:t,error:r})),()=>{s=!1}},[e,t]),n?.place===t?n:null}function go({index:e,row:t,at:n,onChoose:o,isBeside:s}){if(t.answers.length===1)return null;let a=f=>[e.columns[f.column],f.round].filter(Boolean).join(", "),l=[...t.answers.keys()];return i`<div class="tabs"><div role="tablist" aria-label="Answers" onKeyDown=${f=>{let d={ArrowLeft:-1,ArrowRight:1}[f.key];if(!d)return;f.preventDefault(),f.stopPropagation();let $=(n+d+l.length)%l.length;o($),f.currentTarget.querySelectorAll("[role=tab]")[$].focus()}}>
    ${t.answers.map((f,d)=>{let{sign:$,tone:p,label:c}=e.states[f.state],h=!s&&d===n;return i`<button type="button" role="tab" id=${`tab-${d}`} aria-controls="answer" aria-selected=${h}
        tabindex=${d===n?0:-1} onClick=${()=>o(d)}>
        <span class=${p} aria-hidden="true">${$}</span> <bdi>${a(f)}</bdi>
        <span class="hidden">, ${c}</span>${f.value&&i`<span class="dim"> ${f.value}</span>`}</button>`})}</div>
    <button type="button" aria-pressed=${s} onClick=${()=>o(n,!s)}>Side by side</button></div>`}function _o({label:e,row:t,index:n,value:o,onChoose:s}){return i`<label class="choice"><span>${e}</span><select value=${o} onChange=${r=>s(Number(r.target.value))}>
    ${t.answers.map((r,a)=>i`<option value=${a} selected=${a===o}>${n.columns[r.column]}${r.round&&`, ${r.round}`}</option>`)}
  </select></label>`}function hr({index:e,row:t,questions:n,a:o,b:s,onChoose:r}){let[a,l]=[t.answers[o],t.answers[s]],u=[...new Set([...a.criteria,...l.criteria].map(p=>p.name))],f=(p,c)=>{let h=p.criteria.find(g=>g.name===c);return h?i`<${me} tone=${h.tone}>${h.value}<//>`:"–"},d=(p,c)=>p.judgments.filter(h=>h.criterion===c).map(h=>i`<p dir="auto">${F(h.rationale)}</p>`),$=p=>e.states[p.state];return i`<div class="beside">
    <div class="choices">
      <${_o} label="from" row=${t} index=${e} value=${o} onChoose=${p=>r(p,s)} />
      <${_o} label="to" row=${t} index=${e} value=${s} onChoose=${p=>r(o,p)} />
    </div>
    <h3>output</h3>
    <${ke} a=${a.output} b=${l.output} />
    <h3>judgments</h3>
    <div class="wide"><table class="pair"><thead><tr><th scope="col">criterion</th>${[a,l].map(p=>i`<th scope="col"><bdi>${e.columns[p.column]}</bdi> ${p.round}</th>`)}</tr></thead>
      <tbody><tr><th scope="row">verdict</th>${[a,l].map(p=>i`<td><${me} tone=${$(p).tone}>${$(p).label} ${p.value??""}<//></td>`)}</tr>
      ${u.map(p=>i`<tr><th scope="row" title=${n[p]??null}><bdi>${F(p)}</bdi></th>
        ${[a,l].map(c=>i`<td>${f(c,p)}${d(c,p)}</td>`)}</tr>`)}</tbody></table></div>
  </div>`}var gr=["reference","context"];function _r({index:e,row:t,state:n,change:o,body:s,areKeysOn:r}){let a={...e.questions,...t.questions},l=n.answer??n.variant,u=S=>[e.columns[t.answers[S].column],t.answers[S].round].filter(Boolean).join(", "),f=[...t.answers.keys()],d=S=>{let v=f.findIndex(W=>u(W)===S);return v>=0?v:f.findLastIndex(W=>e.columns[t.answers[W].column]===S)},$=Math.max(0,d(l)),p=d(n.with),c=t.answers[$],[h,g]=x(null),[k,w]=x(!1),_=Oe("(max-width: 60rem)"),[b,C]=x("texts");L(()=>g(null),[t,$]);let j=J(()=>c?[...c.marks,...c.steps?.marks??[]].map(S=>S.no):[],[c]),O=(S,v,W=()=>{})=>{C(S),requestAnimationFrame(()=>requestAnimationFrame(()=>{let ne=s.current?.querySelector(v);ne?.scrollIntoView({block:"nearest"}),ne&&W(ne)}))},R=S=>(g(S),O("texts",`mark[data-quotes~="${S}"]`)),P=S=>(g(S),O("judgments",`li[data-quote="${S}"]`)),m=(S,v=!1)=>o({answer:u(S),with:v?u((S+1)%f.length):""}),y=S=>()=>f.length>1&&p<0&&m(($+S+f.length)%f.length);Le({ArrowLeft:y(-1),ArrowRight:y(1),e:()=>j.length>0&&R(j[(j.indexOf(h)+1)%j.length]),r:()=>O("texts",'[data-text="reference"]',S=>S.querySelector(".passage").focus()),p:()=>{w(!k),O("judgments",".exchange")}},r);let E=e.omitted.replies??"",D={quote:h,isPromptOpen:k,omitted:E},N=S=>t.texts.filter(v=>gr.includes(v.title)===S).map(v=>i`<section data-text=${v.title} class="given"><h3>${v.title}</h3>
      <${X} text=${v.text} mono=${v.mono} label=${v.title} /></section>`);return p>=0&&p!==$?i`<${go} index=${e} row=${t} at=${$} onChoose=${m} isBeside />
      <div id="answer"><${hr} index=${e} row=${t} questions=${a} a=${$} b=${p}
        onChoose=${(S,v)=>o({answer:u(S),with:u(S===v?(S+1)%f.length:v)})} />${N(!1)}${N(!0)}</div>`:i`<${go} index=${e} row=${t} at=${$} onChoose=${m} isBeside=${!1} />
    ${c&&i`<div class="verdict"><${me} tone=${e.states[c.state].tone}>
      ${e.states[c.state].label} ${c.value??""}<//> <${He} facts=${[c.round,...c.facts].filter(Boolean)} /></div>`}
    ${_&&i`<div class="parts" role="group" aria-label="Show">${[["texts","Output and texts"],["judgments","Judgments"]].map(([S,v])=>i`<button type="button" aria-pressed=${b===S} onClick=${()=>C(S)}>${v}</button>`)}</div>`}
    <div class="columns" id="answer" role=${f.length>1?"tabpanel":null} aria-labelledby=${f.length>1?`tab-${$}`:null}>
      ${(!_||b==="texts")&&i`<div>${N(!1)}${c&&i`<${so} answer=${c} view=${{...D,pick:P}} />`}
        ${N(!0)}${c?.trace.length>0&&i`<h3>trace</h3><${ao} trace=${c.trace} />`}</div>`}
      ${c&&(!_||b==="judgments")&&i`<div><${ro} answer=${c} questions=${a} view=${{...D,pick:R}} /></div>`}
    </div>`}function bo({index:e,place:t,rows:n,state:o,change:s,onClose:r,onMove:a,areKeysOn:l,onHelp:u}){let f=mr(e,t),d=A(null),[$,p]=x(""),c=n.indexOf(t),h=e.ids[t];L(()=>{p(""),d.current&&(d.current.scrollTop=0)},[t]);let g=Wt({...o,case:h}),k=async()=>{try{await navigator.clipboard.writeText(g),p("Link copied.")}catch{p(`The browser does not allow copying; the link is ${g}`)}};Le({"[":()=>a(-1),"]":()=>a(1),j:()=>a(1),k:()=>a(-1),c:()=>{k()},"?":u},l);let w=$o(e.kind)?ho:_r;return i`<${qt} label=${`Case ${h}`} className="drawer" onClose=${r}>
    <div class="inside">
      <header>
        <h2><bdi>${h}</bdi></h2>
        <div class="actions">
          <button type="button" onClick=${()=>a(-1)} disabled=${c<=0} aria-label="Previous case" title="Previous case ([)">‹</button>
          <span class="dim">${c>=0?`${(c+1).toLocaleString("en")} of ${n.length.toLocaleString("en")}`:"filtered out"}</span>
          <button type="button" onClick=${()=>a(1)} disabled=${c>=n.length-1} aria-label="Next case" title="Next case (])">›</button>
          <button type="button" onClick=${k} title="Copy a link to this case (c)">Copy link</button>
          <button type="button" onClick=${u} aria-label="Keyboard shortcuts" title="Keyboard shortcuts (?)">?</button>
          <button type="button" onClick=${r} aria-label="Close" title="Close (Esc)">✕</button>
        </div>
        <p role="status" class="notice">${$}</p>
      </header>
      <div class="body" ref=${d} aria-busy=${f===null}>
        ${f?.error&&i`<p class="fail">This case cannot be shown: ${f.error.message}. Reload the page; if that does not help, write it again.</p>`}
        ${f?.row&&i`<${He} facts=${f.row.facts??[]} />
          <${w} key=${t} index=${e} row=${f.row} state=${o} change=${s} body=${d} areKeysOn=${l} />`}
      </div>
    </div>
  <//>`}var br=[["?","this list"],["/","search; Enter goes to the first case found"],["j k","next, previous row"],["← →","variant"],["Enter","open the case"],["1 … 5","filters: all, then as listed"],["Esc","close"],["[ ]","in a case: previous, next case"],["e","in a case: next piece of evidence"],["r","in a case: reference"],["p","in a case: prompt and reply of the judge"],["c","in a case: copy a link to it"]];function vo({index:e}){let[t,n]=Hn(),o=Kn(e,t.q),s=Jn(e,t,o.hits),{rows:r}=s,a=J(()=>new Map(e.ids.map((S,v)=>[S,v])),[e]),l=t.case===void 0?void 0:a.get(t.case),[{active:u},f]=x({active:-1}),[d,$]=x(-1),p=A({row:-1,column:-1}),c=S=>{p.current.row=S,f({active:S})},[h,g]=x(!1),[k,w]=eo(),_=A(null),b=J(()=>{let S=new Set(e.cells.flatMap(v=>[...new Set(v.state)]));return e.states.filter((v,W)=>S.has(W))},[e]),C=A(-1),j=S=>{if(r.length===0)return;let v=Math.min(r.length-1,Math.max(0,S));C.current=v,c(v)},O=(S,v)=>n({case:e.ids[S],answer:v??e.columns[p.current.column]??"",with:""},{push:!0}),R=()=>{history.state?.pushed?history.back():n({case:"",answer:"",with:""})},P=S=>{let v=r.indexOf(a.get(Pe().case)),W=r[v<0?0:v+S];W!==void 0&&n({case:e.ids[W],with:""})},m=A(l);L(()=>{m.current!==void 0&&l===void 0&&j(r.indexOf(m.current)),m.current=l},[l]),L(()=>c(Math.min(p.current.row,r.length-1)),[r]);let y=S=>()=>n({state:S},{push:!0}),E=S=>()=>{let v=e.columns.length,W=p.current.column;return p.current.column=W<0?S>0?0:v-1:(W+S+v)%v,$(p.current.column),!0},D=l===void 0&&!h;Le({"?":()=>g(!0),"/":()=>_.current.focus(),j:()=>j(p.current.row+1),k:()=>j(p.current.row-1),1:y(""),...Object.fromEntries(e.filters.slice(0,8).map((S,v)=>[v+2,y(S.key)]))},D&&k);let N=()=>document.activeElement?.closest?.("tr[data-row]")!==null;return Le({ArrowDown:()=>N()&&(j(p.current.row+1),!0),ArrowUp:()=>N()&&(j(p.current.row-1),!0),ArrowLeft:()=>N()&&E(-1)(),ArrowRight:()=>N()&&E(1)(),Enter:()=>document.activeElement?.matches?.("tr[data-row] a")&&(O(r[p.current.row]),!0)},D),i`
    <p class="legend note">${b.map(({label:S,sign:v,tone:W})=>i`<span><span class=${W} aria-hidden="true">${v}</span> ${S}</span>`)}</p>
    <${Gn} index=${e} state=${t} change=${n} selection=${s} search=${o}
      searchBox=${_} onFound=${()=>j(0)} onHelp=${()=>g(!0)} />
    ${t.case!==void 0&&l===void 0&&i`<p class="fail" role="alert">There is no case “${t.case}” on this page.</p>`}
    <${Xn} index=${e} rows=${r} state=${t} change=${n} active=${u} setActive=${c}
      column=${d} openRow=${O} focusing=${C} />
    ${l!==void 0&&i`<${bo} index=${e} place=${l} rows=${r} state=${t} change=${n}
      onClose=${R} onMove=${P} areKeysOn=${k&&!h} onHelp=${()=>g(!0)} />`}
    ${h&&i`<${to} rows=${br} isOn=${k} setOn=${w} onClose=${()=>g(!1)} />`}
  `}function vr(e){if(e.scrollWidth>e.clientWidth)e.tabIndex=0,e.setAttribute("role","group"),e.setAttribute("aria-label",yr(e));else for(let t of["tabindex","role","aria-label"])e.removeAttribute(t)}function yr(e){for(let t=e;t&&t.id!=="main";t=t.parentElement)for(let n=t.previousElementSibling;n;n=n.previousElementSibling)if(/^H[1-6]$/.test(n.tagName))return n.textContent;return e.querySelector("th, figcaption, svg")?.textContent||document.title}function yo(){let e=new ResizeObserver(t=>t.forEach(n=>vr(n.target)));for(let t of document.querySelectorAll(".wide"))e.observe(t)}var Z=null,xe=null,Je=0;function wr(){return Z||(Z=document.createElement("div"),Z.id="tip",Z.className="tip",Z.setAttribute("role","tooltip"),Z.popover="manual"),Z}function kr(e){let t=e.getBoundingClientRect(),{width:n,height:o}=Z.getBoundingClientRect(),s=Math.min(Math.max(6,t.left),Math.max(6,innerWidth-n-6)),r=t.bottom+6,a=r+o>innerHeight&&t.top>o+6?t.top-o-6:r;Z.style.left=`${s}px`,Z.style.top=`${a}px`}function Qt(e){if(clearTimeout(Je),xe===e)return;Ae(),xe=e;let t=wr();t.textContent=e.dataset.tip,(e.closest("dialog[open], main")??document.body).append(t),t.showPopover(),kr(e),e.setAttribute("aria-describedby",t.id)}function Ae(){clearTimeout(Je),xe&&(xe.removeAttribute("aria-describedby"),xe=null,Z.matches(":popover-open")&&Z.hidePopover())}function dt(e){let t=e instanceof Element?e.closest("[data-tip], .term[title], td[title], th[title]"):null;return t?.title&&(t.dataset.tip=t.title,t.removeAttribute("title")),t}function wo(e=document){for(let t of e.querySelectorAll(".term[title]"))dt(t),t.tabIndex=0}document.addEventListener("pointerover",e=>{if(e.pointerType==="touch")return;let t=dt(e.target);t?Qt(t):Z?.contains(e.target)?clearTimeout(Je):xe&&(clearTimeout(Je),Je=setTimeout(Ae,200))});document.addEventListener("focusin",e=>{let t=dt(e.target);t&&Qt(t)});document.addEventListener("focusout",Ae);document.addEventListener("click",e=>{let t=dt(e.target);t?Qt(t):Ae()});document.addEventListener("keydown",e=>{e.key==="Escape"&&xe&&(Ae(),e.stopImmediatePropagation(),e.preventDefault())},!0);document.addEventListener("scroll",Ae,{capture:!0,passive:!0});function ko(e){for(let t of e.querySelectorAll(".text-change")){let[n,o]=[...t.querySelectorAll("pre")].map(s=>s.textContent);t.replaceChildren(),ee(i`<${ke} a=${n} b=${o} />`,t)}}var Ce=class extends Error{constructor(t,n,o=null){super(t),this.status=n,this.reply=o}};function Xt(){return xo()!==void 0}function xo(){return document.querySelector('meta[name="judgekit-token"]')?.content}async function te(e,t){if(!Xt())throw new Ce("This page can change nothing: it is for reading only.",0);let n;try{n=await fetch(e,{method:"POST",headers:{"content-type":"application/json","x-judgekit-token":xo()},body:JSON.stringify(t)})}catch{throw new Ce("judgekit view does not answer. Is it still running?",0)}let o=await n.text(),r=n.headers.get("content-type")?.startsWith("application/json")?JSON.parse(o):null;if(!n.ok)throw new Ce(r?.error??o,n.status,r);return r}var ft=20;function Co({path:e,text:t,problems:n,isReadOnly:o,target:s,onInput:r}){let a=A(null),l=A(null),[u,f]=x({top:0,height:600}),d=()=>a.current&&f({top:a.current.scrollTop,height:a.current.clientHeight});Q(()=>{a.current.value!==t&&(a.current.value=t)},[t]),L(()=>{let g=new ResizeObserver(d);return g.observe(a.current),()=>g.disconnect()},[]),Q(()=>{l.current.style.transform=`translateY(${-(u.top%ft)}px)`},[u]),L(()=>{if(!s)return;let g=t.split(`
`),k=g.slice(0,s.line-1).reduce((w,_)=>w+_.length+1,0);a.current.focus(),a.current.setSelectionRange(k,k+(g[s.line-1]??"").length),a.current.scrollTop=Math.max(0,(s.line-4)*ft),a.current.scrollLeft=0,d()},[s]);let $=new Map;for(let g of n){let k=$.get(g.line);$.set(g.line,{severity:k?.severity==="error"?"error":g.severity,words:k?`${k.words}
${g.message}`:g.message})}let p=t.split(`
`).length,c=Math.floor(u.top/ft),h=Math.min(p-c,Math.ceil(u.height/ft)+1);return i`
    <div class="ed-text">
      <div class="ed-gutter" aria-hidden="true">
        <div ref=${l}>
          ${Array.from({length:Math.max(0,h)},(g,k)=>{let w=c+k+1,_=$.get(w),b=_&&(_.severity==="error"?"✗":"!");return i`<div class=${_?`ed-${_.severity}`:""} title=${_?.words}>${b} ${w}</div>`})}
        </div>
      </div>
      <textarea ref=${a} wrap="off" spellcheck=${!1} autocomplete="off" aria-label=${`Text of ${e}`}
        readOnly=${o} onScroll=${d} onInput=${g=>r(g.target.value)} />
    </div>`}var xr=400,So=90,Zt=500,Cr={assertions:[],scorers:[],variants:[],suites:[],needs:[],examples:[],tags:[],stratum:"",metadata:{},evaluation:{},judge:{},gate:{},settings:{},compare:{},prices:{},columns:{},panel:{}};function Sr(e,t){let[n,o]=x(e),s=A({draft:e,value:e,timer:0});s.current.commit=t,L(()=>{s.current.draft===s.current.value&&o(s.current.draft=e),s.current.value=e},[e]);let r=()=>{clearTimeout(s.current.timer),s.current.draft!==s.current.value&&(s.current.value=s.current.draft,s.current.commit(s.current.draft))};return L(()=>r,[]),[n,l=>{o(s.current.draft=l),clearTimeout(s.current.timer),s.current.timer=setTimeout(r,xr)},r]}function To(e,t){let[n,o]=x(e);return L(()=>o(e),[e]),[n,async r=>{o(r),await t(r)||o(e)}]}function ie({label:e,value:t,onCommit:n,lines:o=1,hint:s="",problem:r="",type:a="text"}){let l=$e(),[u,f,d]=Sr(t,n),$=A(null),p=Math.min(16,Math.max(o,u.split(`
`).length)),c=r||s?`${l}-about`:null,h={id:l,value:u,"aria-describedby":c,"aria-invalid":r?"true":null,onInput:g=>f(g.target.value),onBlur:d};return i`
    <div class="ed-field">
      <label for=${l}>${e}</label>
      ${o===1?i`<input type=${a} ref=${$} ...${h} />`:i`<textarea rows=${p} ...${h} />`}
      ${c&&i`<p id=${c} class=${r?"fail":"note"}>${r||s}</p>`}
    </div>`}function Er({label:e,value:t,onCommit:n,hint:o}){let[s,r]=x(""),a=JSON.stringify(t,null,2),l=u=>{let f;try{f=JSON.parse(u)}catch(d){r(`Not in the file yet, for it is not JSON: ${d.message}`);return}r(""),n(f)};return i`<${ie} label=${`${e} (JSON)`} value=${a} lines=${2} problem=${s} hint=${o} onCommit=${l} />`}function Se({label:e,value:t,lines:n,onCommit:o,onRemove:s,hint:r}){return t!=null&&typeof t!="string"?i`<${Er} label=${e} value=${t} onCommit=${o} hint=${r} />`:i`<${ie} label=${e} value=${t??""} lines=${n} onCommit=${l=>l===""&&s?s():o(l)} hint=${r} />`}function pt({label:e,value:t,onCommit:n,onRemove:o,hint:s}){let[r,a]=x(""),l=u=>{let f=u.trim(),d=f!==""&&Number.isFinite(Number(f));a(d||f===""&&o?"":"Not in the file yet: a number is needed."),d?n(Number(f)):f===""&&o&&o()};return i`<${ie} label=${e} value=${t==null?"":String(t)}
    problem=${r} hint=${s} onCommit=${l} />`}function en({data:e,known:t,where:n,change:o,noun:s}){let[r,a]=x(""),l=$e(),u=Object.keys(e).filter($=>!t.includes($)),f=r.trim(),d=async()=>{f&&!(f in e)&&await o("set",[...n,f],Cr[f]??"")&&a("")};return i`
    ${u.map($=>i`
      <div class="ed-other" key=${$}>
        <${Se} label=${$} value=${e[$]??void 0} lines=${1}
          onCommit=${p=>o("set",[...n,$],p)} />
        <button onClick=${()=>o("remove",[...n,$])} aria-label=${`Remove ${$}`} title="Remove">×</button>
      </div>`)}
    <div class="ed-add">
      <label for=${l}>Further field of the ${s}</label>
      <input id=${l} value=${r} onInput=${$=>a($.target.value)}
        onKeyDown=${$=>$.key==="Enter"&&d()} />
      <button onClick=${d} disabled=${!f||f in e}>Add field</button>
    </div>`}function Po({noun:e,n:t,place:n,where:o,change:s,onPlace:r,blank:a,copyName:l,isReadOnly:u}){let f=async($,p,c,h)=>{await s($,[...o,p],c)&&r(h)},d=async()=>{if(!await s("copy",[...o,n]))return;let[$,p]=l(n);await s("set",[...o,n+1,$],p),r(n+1)};return u?null:i`
    <fieldset class="ed-tools" aria-label=${`Change the list of ${e==="criterion"?"criteria":"cases"}`}>
      <button onClick=${()=>f("insert",t?n:-1,a(),t?n+1:0)}>Add</button>
      <button disabled=${!t} onClick=${d}>Duplicate</button>
      <button disabled=${n<1} onClick=${()=>f("move",n,-1,n-1)} aria-label="Move up">↑</button>
      <button disabled=${n>=t-1} onClick=${()=>f("move",n,1,n+1)} aria-label="Move down">↓</button>
      <button disabled=${!t} onClick=${()=>f("remove",n,null,Math.max(0,Math.min(n,t-2)))}>Delete</button>
    </fieldset>`}function Oo({label:e,items:t,place:n,onPlace:o}){let s=A(null);return i`
    <ul class="ed-items" ref=${s} aria-label=${e} onKeyDown=${a=>{let l={ArrowDown:1,ArrowUp:-1}[a.key];if(!l)return;a.preventDefault();let u=[...s.current.querySelectorAll("button")],f=u[u.indexOf(document.activeElement)+l];f?.focus(),f?.click()}}>
      ${t.map(a=>i`
        <li key=${a.place}>
          <button aria-current=${a.place===n?"true":null} onClick=${()=>o(a.place)}>
            <strong><bdi>${a.name}</bdi></strong>
            ${a.tags?.map(l=>i`<span class="ed-tag"><bdi>${l}</bdi></span>`)}
            <span class="note" dir="auto">${a.words}</span>
          </button>
        </li>`)}
    </ul>`}function Lo(e){let t=typeof e=="string"?e:JSON.stringify(e)??"";return t.length>So?`${t.slice(0,So)}…`:t}function $t(e,t){for(let n=2;;n++)if(!t.includes(`${e}-${n}`))return`${e}-${n}`}function Eo(e){return Array.isArray(e)?e.filter(t=>typeof t=="string"):[]}function jo({file:e,caseId:t,onCase:n,change:o,isReadOnly:s}){let[r,a]=x(""),[l,u]=x(null),f=$e(),d=e.cases_at,$=(d.length?e.data[d[0]]:e.data).map(m=>m&&typeof m=="object"&&!Array.isArray(m)?m:{}),p=(m,y)=>Object.keys(e.aliases).find(E=>e.aliases[E]===y&&E in m&&!(y in m))??y,c=$.map(m=>String(m[p(m,"id")]??"")),h=t===null?0:Math.max(0,c.indexOf(t)),g=Math.min(l&&c[l.place]===(l.id??c[l.place])?l.place:h,Math.max(0,$.length-1)),k=m=>{u({place:m}),n(c[m]??null)},w=m=>m[p(m,"input")],_=r.trim().toLowerCase(),b=$.map((m,y)=>({place:y,name:c[y]||"(no id)",words:Lo(w(m)),tags:Eo(m.tags)})).filter(m=>!_||`${m.name} ${m.words} ${m.tags.join(" ")}`.toLowerCase().includes(_)),C=$[g],j=[...d,g],O=m=>y=>o("set",[...j,m],y),R=m=>m in C?()=>o("remove",[...j,m]):null,P=["tags",...["id","input","reference","context"].map(m=>C?p(C,m):m)];return i`
    <div class="ed-list">
      <div class="ed-field">
        <label for=${f}>Find a case</label>
        <input id=${f} type="search" value=${r} onInput=${m=>a(m.target.value)} />
      </div>
      <p class="note" role="status">${b.length===$.length?`${$.length} cases`:`${b.length} of ${$.length} cases`}${b.length>Zt?`, the first ${Zt} are listed`:""}</p>
      <${Po} noun="case" n=${$.length} place=${g} where=${d} change=${o} isReadOnly=${s} onPlace=${m=>u({place:m})}
        blank=${()=>({id:$t("case",c),input:""})} copyName=${m=>["id",$t(c[m],c)]} />
      <${Oo} label="Cases" items=${b.slice(0,Zt)} place=${g} onPlace=${k} />
    </div>
    ${C&&i`
      <fieldset class="ed-fields" disabled=${s} aria-label=${`Case ${c[g]}`} key=${`${g} of ${$.length}`}>
        <p class="note">Line ${e.lines[g]}</p>
        <${ie} label="id" value=${c[g]} hint="Names results and stored judgments."
          onCommit=${async m=>{await o("set",[...j,p(C,"id")],m)&&(u({place:g}),n(m))}} />
        <${Se} label=${p(C,"input")} value=${w(C)} lines=${5} onCommit=${O(p(C,"input"))} />
        ${["reference","context"].map(m=>i`
          <${Se} key=${m} label=${p(C,m)} value=${C[p(C,m)]} lines=${3}
            onCommit=${O(p(C,m))} onRemove=${R(p(C,m))} />`)}
        <${ie} label="tags" value=${Eo(C.tags).join(", ")} hint="Separated by commas."
          onCommit=${m=>O("tags")(m.split(",").map(y=>y.trim()).filter(Boolean))} />
        <${en} data=${C} known=${P} where=${j} change=${o} noun="case" />
      </fieldset>`}`}var Tr=["name","question","scoring_guide","scale","weight","required","pass_value"];function Mo({data:e,change:t,isReadOnly:n}){let[o,s]=x(0),r=e.criteria.map(c=>c&&typeof c=="object"?c:{}),a=Math.min(o,Math.max(0,r.length-1)),l=r.map(c=>String(c.name??"")),u=r[a],f=["criteria",a],d=c=>h=>t("set",[...f,c],h),$=c=>c in u?()=>t("remove",[...f,c]):null,p=c=>h=>t("set",[c],h);return i`
    <div class="ed-list">
      <fieldset disabled=${n} aria-label="Rubric">
      <${ie} label="Name of the rubric" value=${String(e.name??"")} onCommit=${p("name")} />
      <${pt} label="pass_threshold" value=${e.pass_threshold} hint="The least overall value that passes, 0 to 1."
        onCommit=${p("pass_threshold")} onRemove=${"pass_threshold"in e?()=>t("remove",["pass_threshold"]):null} />
      </fieldset>
      <${Po} noun="criterion" n=${r.length} place=${a} where=${["criteria"]} change=${t} isReadOnly=${n} onPlace=${s}
        blank=${()=>({name:$t("criterion",l),question:""})} copyName=${c=>["name",$t(l[c],l)]} />
      <${Oo} label="Criteria" items=${r.map((c,h)=>({place:h,name:l[h]||"(no name)",words:Lo(c.question??"")}))}
        place=${a} onPlace=${s} />
    </div>
    ${u&&i`
      <fieldset class="ed-fields" disabled=${n} aria-label=${`Criterion ${l[a]}`} key=${`${a} of ${r.length}`}>
        <${ie} label="name" value=${l[a]} onCommit=${d("name")} />
        <${Se} label="question" value=${u.question} lines=${3} onCommit=${d("question")} />
        <${Or} scale=${u.scale} where=${[...f,"scale"]} change=${t} />
        <${Se} label="scoring_guide" value=${u.scoring_guide} lines=${3} onCommit=${d("scoring_guide")} onRemove=${$("scoring_guide")} />
        <div class="ed-row">
          <${pt} label="weight" value=${u.weight} hint="Its share in the overall value; 1 if missing." onCommit=${d("weight")} onRemove=${$("weight")} />
          <${pt} label="pass_value" value=${u.pass_value} hint="The least value that passes, 0 to 1." onCommit=${d("pass_value")} onRemove=${$("pass_value")} />
          <${Pr} label="required" value=${u.required===!0} onCommit=${d("required")} />
        </div>
        <${en} data=${u} known=${Tr} where=${f} change=${t} noun="criterion" />
      </fieldset>`}`}function Pr({label:e,value:t,onCommit:n}){let[o,s]=To(t,n);return i`<label class="ed-check"><input type="checkbox" checked=${o}
    onChange=${r=>s(r.target.checked)} /> ${e}</label>`}function Or({scale:e,where:t,change:n}){return Array.isArray(e)&&e.every(s=>s&&typeof s=="object"&&"value"in s)?i`
    <fieldset class="ed-levels">
      <legend>scale</legend>
      ${e.map((s,r)=>i`
        <div class="ed-level" key=${`${r} of ${e.length}`}>
          <${pt} label=${`Value ${r+1}`} value=${s.value} onCommit=${a=>n("set",[...t,r,"value"],a)} />
          <${ie} label="Anchor" value=${String(s.description??"")} lines=${2} onCommit=${a=>n("set",[...t,r,"description"],a)} />
          <button aria-label=${`Remove level ${s.value}`} title="Remove" disabled=${e.length<3} onClick=${()=>n("remove",[...t,r])}>×</button>
        </div>`)}
      <button onClick=${()=>n("insert",[...t,e.length-1],{value:Lr(e),description:""})}>Add level</button>
    </fieldset>`:i`<${Se} label="scale" value=${e} lines=${1} onCommit=${s=>n("set",t,s)}
      hint='The name of a scale, such as likert5; or JSON: a list of levels, each with a value and a description.' />`}function Lr(e){let t=e.map(o=>Number(o.value)).filter(Number.isFinite),n=t.at(-1)??0;return t.length>1&&t[0]>n?n-1:n+1}var jr=["name","dataset","rubric","profile","cases"];function Ao({data:e,profiles:t,change:n,isReadOnly:o}){let s=u=>f=>n("set",[u],f),r=u=>u in e?()=>n("remove",[u]):null,[a,l]=To(e.profile??"",u=>u?n("set",["profile"],u):n("remove",["profile"]));return i`
    <fieldset class="ed-fields" disabled=${o} aria-label="Suite">
      <${ie} label="name" value=${String(e.name??"")} onCommit=${s("name")} />
      ${["dataset","rubric"].map(u=>i`
        <${Se} key=${u} label=${u} value=${e[u]} lines=${1} onCommit=${s(u)} onRemove=${r(u)} />`)}
      <fieldset class="ed-profiles">
        <legend>profile</legend>
        <p class="note">The kind of skill. It sets how a case without an evaluation of its own is evaluated: the first strategy whose expectation the case has.</p>
        <div class="wide"><table>
          <thead><tr><th scope="col">profile</th><th scope="col">strategies</th><th scope="col">threshold</th><th scope="col">rubric</th></tr></thead>
          <tbody>
            ${[{name:"",strategies:"assertions, and the rubric if there is a judge",threshold:"–",rubric:null},...t].map(u=>i`
              <tr key=${u.name}>
                <th scope="row"><label class="ed-check"><input type="radio" name="profile" value=${u.name}
                  checked=${a===u.name} onChange=${()=>l(u.name)} /> ${u.name||"none"}</label></th>
                <td>${u.strategies}</td><td>${u.threshold}</td><td>${u.rubric??"–"}</td>
              </tr>`)}
          </tbody>
        </table></div>
      </fieldset>
      <${en} data=${e} known=${jr} where=${[]} change=${n} noun="suite" />
    </fieldset>`}var Mr=600,mt="\0typed",Io=new Set(["suite","rubric","cases","template","partial","outputs"]);function Do({path:e,file:t,listing:n,caseId:o,onCase:s,isReadOnly:r}){let a=n.files.filter(y=>y.kind==="suite").map(y=>y.path),[l,u]=x(a.includes(e)?e:a[0]),[f,d]=x(null),[$,p]=x(""),[c,h]=x(""),[g,k]=x(null),[w,_]=x(""),b=A(0),C=f===mt,j={case_id:o,variant:C?null:f,output:C?$:null,model:c.trim()||null},O={path:e,text:t.text,suite:l,settings:j},R=JSON.stringify(O),P=async y=>{try{let E=await te("/api/edit/preview",O);if(y!==b.current)return;E.error||k({...E,key:R}),_(E.error??"")}catch(E){if(y!==b.current)return;_(E.message)}};if(L(()=>{let y=++b.current;if(!l||!Io.has(t.kind))return;let E=setTimeout(()=>P(y),g||w?Mr:0);return()=>clearTimeout(E)},[R,t.kind]),!Io.has(t.kind))return null;if(!l)return i`<aside class="ed-preview" aria-label="Preview"><h2>Preview</h2>
      <p class="note">Prompts are shown with a suite, which names the judge: there is none in this folder. <code>judgekit init</code> makes one.</p></aside>`;let m=g?.key===R;return i`
    <aside class="ed-preview" aria-label="Preview" aria-busy=${!m&&!w}>
      <h2>What the judge reads</h2>
      <div class="ed-choices">
        ${a.length>1&&i`<${tn} label="Suite" value=${l} options=${a} onChoose=${u} />`}
        ${g&&i`
          <${tn} label="Case" value=${g.case_id} options=${g.cases} onChoose=${s} />
          <${tn} label="Output" value=${f??g.variant??mt} onChoose=${d}
            options=${[...g.variants,mt]} names=${{[mt]:"typed here"}} />
          <${Ar} judges=${g.judges} model=${c} onModel=${h} />`}
      </div>
      ${C&&i`<${Ir} text=${$} onText=${p} />`}
      ${w&&i`<p class="ed-narrow">No preview: <bdi>${w}</bdi></p>`}
      ${g&&!w&&i`
        ${g.notes.map(y=>i`<p class="note">${y}</p>`)}
        <${Nr} body=${O} preview=${g} isCurrent=${m&&!w} isReadOnly=${r} />
        ${!C&&g.variant&&i`<details><summary>Output of ${g.variant}</summary><pre dir="auto">${g.output}</pre></details>`}
        ${g.requests.map((y,E)=>i`<${Dr} key=${E} request=${y} isOpen=${E===0} />`)}`}
    </aside>`}function tn({label:e,value:t,options:n,names:o={},onChoose:s}){let r=$e();return i`<div class="ed-field">
    <label for=${r}>${e}</label>
    <select id=${r} value=${t} onChange=${a=>s(a.target.value)}>
      ${n.map(a=>i`<option key=${a} value=${a} selected=${a===t}>${o[a]??a}</option>`)}
    </select></div>`}function Ar({judges:e,model:t,onModel:n}){let o=$e();return i`<div class="ed-field">
    <label for=${o}>Model</label>
    <input id=${o} value=${t} placeholder=${e.join(", ")||"none"} onChange=${s=>n(s.target.value)} />
  </div>`}function Ir({text:e,onText:t}){let n=$e();return i`<div class="ed-field">
    <label for=${n}>Output to judge</label>
    <textarea id=${n} rows="4" value=${e} onInput=${o=>t(o.target.value)} />
  </div>`}function Dr({request:e,isOpen:t}){let n=e.repeat?`, repeat ${e.repeat+1}`:"";return i`
    <details open=${t}>
      <summary><strong>${e.criterion??"all criteria"}</strong>${n}: ${e.tokens}, ${e.price}</summary>
      <p class="note">${e.judge}; tokens counted by ${e.token_source}</p>
      ${e.messages.map(o=>i`
        <h3>${o.role}</h3>
        <pre class="ed-prompt" dir="auto">${o.content}</pre>`)}
    </details>`}function Nr({body:e,preview:t,isCurrent:n,isReadOnly:o}){let[s,r]=x("ready"),[a,l]=x(null),[u,f]=x("");L(()=>{r("ready"),l(null),f("")},[t.calls_key]);let d=async()=>{r("running"),f("");try{let c=await te("/api/edit/preview",{...e,calls_key:t.calls_key});c.error?f(c.error):l(c)}catch(c){f(c.message)}r("ready")},$=A(null);L(()=>{s==="confirm"&&$.current.focus()},[s]);let p=t.n_calls===0||t.price.includes("not recorded");return o?i`<p><strong>${t.price}</strong></p>`:i`
    <div class="ed-trial">
      <p><strong>${t.price}</strong></p>
      ${t.refusal&&i`<p class="note">${t.refusal}</p>`}
      <p><button disabled=${!!t.refusal||!n||s==="running"} aria-expanded=${p?null:String(s==="confirm")}
        onClick=${()=>p?d():r("confirm")}>${s==="running"?"Judging …":p?"Try: free":"Try …"}</button></p>
      ${s==="confirm"&&i`
        <div class="ed-price" role="group" aria-label="Confirm the price" tabindex="-1" ref=${$}>
          <p>This makes ${t.price}.</p>
          <button class="ed-confirm" onClick=${d}>Confirm and judge</button>${" "}
          <button onClick=${()=>r("ready")}>Cancel</button>
        </div>`}
      <div role="status">${u&&i`<p class="error">${u}</p>`}${a&&i`<${Rr} result=${a} />`}</div>
    </div>`}function Rr({result:e}){return i`
    <p class=${`conclusion ${e.tone}`}>${e.conclusion}</p>
    ${e.notes.map(t=>i`<p class="error">${t}</p>`)}
    ${e.judgments.map(t=>i`
      <section class="ed-judgment">
        <h3>${t.criterion}: ${t.raw} <span class="note">value ${st(t.value)}, ${t.cached?"cached":t.cost_usd===null?"price unknown":`$${t.cost_usd?t.cost_usd.toPrecision(2):0}`}${t.confidence===null?"":`, confidence ${t.confidence}`}</span></h3>
        <p class="note">${t.judge}</p>
        <p dir="auto">${t.rationale}</p>
        ${t.evidence.map(n=>i`<blockquote dir="auto">${n.quote}${!n.match&&i` <span class="fail">! not in the output</span>`}</blockquote>`)}
      </section>`)}`}var No=3,Wr=40,Ro=300;function Wo({dialog:e,path:t,file:n,onSave:o,onSettle:s,onClose:r}){let a=A(null);L(()=>{a.current.showModal()},[]);let l=n.problems.filter(d=>d.severity==="error"&&d.path===t).length,u=e.kind==="conflict",f=u?e.disk.text:n.saved;return i`
    <dialog class="ed-dialog" ref=${a} onClose=${r} aria-labelledby="ed-dialog-title">
      <h2 id="ed-dialog-title">${u?"Changed on disk":`Changes to ${t}`}</h2>
      ${e.message&&i`<p class="error" role="alert">${e.message}</p>`}
      ${u?i`<p>Below: what is on disk now (−), and what you have here (+).</p>`:l>0&&i`<p class="fail">✗ With ${l} ${l===1?"error":"errors"} it cannot be used until ${l===1?"it is":"they are"} corrected.</p>`}
      <${qr} before=${f} after=${n.text} />
      <div class="ed-buttons">
        ${u?i`
              <button onClick=${()=>s(e.disk,!0)}>Keep mine, and look at the changes again</button>
              <button onClick=${()=>s(e.disk,!1)}>Discard mine, take the file on disk</button>`:i`<button class="ed-save" autofocus onClick=${o}>${l?`Save with ${l} ${l===1?"error":"errors"}`:"Save"} <kbd>Ctrl+S</kbd></button>`}
        <button onClick=${()=>a.current.close()}>Cancel</button>
      </div>
    </dialog>`}function qr({before:e,after:t}){let n=Ke(e,t,{timeout:Ro});if(!n)return i`<p class="note">The texts have too little in common to be compared line by line.</p>`;let o=[];return n.forEach((s,r)=>{let a=s.value.replace(/\n$/,"").split(`
`);if(!s.added&&!s.removed){o.push(...Fr(a,r===0,r===n.length-1));return}let l=s.removed?n[r+1]:n[r-1],f=l&&(s.removed?l.added:l.removed)&&l.count===s.count&&s.count<=Wr?l.value.replace(/\n$/,"").split(`
`):[];a.forEach((d,$)=>o.push({sign:s.removed?"−":"+",line:d,other:f[$]}))}),i`
    <div class="ed-diff" tabindex="0" role="region" aria-label="Changed lines">
      ${o.map(s=>{if(s.folded)return i`<div class="ed-fold">${s.folded} unchanged lines</div>`;if(!s.sign)return i`<div><span>  </span>${s.line}</div>`;let r=s.sign==="+"?"ins":"del";return i`<${r} class="ed-line"><span class="hidden">${s.sign==="+"?"added: ":"removed: "}</span><span aria-hidden="true">${s.sign} </span><${Br} row=${s} /></${r}>`})}
    </div>`}function Fr(e,t,n){let o=t?0:No,s=n?0:No;return e.length<=o+s+1?e.map(r=>({line:r})):[...e.slice(0,o).map(r=>({line:r})),{folded:e.length-o-s},...s?e.slice(-s).map(r=>({line:r})):[]]}function Br({row:e}){let t=e.sign==="+",n=e.other===void 0?null:ut(t?e.other:e.line,t?e.line:e.other,{timeout:Ro});return n?n.filter(o=>t?!o.removed:!o.added).map(o=>o.added||o.removed?i`<mark>${o.value}</mark>`:o.value):e.line}var Hr=300,Ur="/edit",Kr=/^\/edit(?:\/(.+))?$/;function Bo(){let e=Kr.exec(location.pathname),t=document.getElementById("main");if(!e||!Xt()||!t)return;let n=document.createElement("div"),o=e[1]&&e[1].split("/").map(decodeURIComponent).join("/");for(;t.querySelector("h1").nextSibling;)t.querySelector("h1").nextSibling.remove();t.append(n),document.querySelector(".skip").textContent="Skip to the editor",ee(i`<${Jr} path=${o} />`,n)}function ht(){return new URLSearchParams(location.hash.slice(1))}function qo(e){let t=ht();for(let[n,o]of Object.entries(e))o===null?t.delete(n):t.set(n,o);history.replaceState(null,"",`#${t}`)}function Ho(){let e=matchMedia("(max-width: 44rem)"),[t,n]=x(e.matches);return L(()=>{let o=()=>n(e.matches);return e.addEventListener("change",o),()=>e.removeEventListener("change",o)},[]),t}function Jr({path:e}){let[t,n]=x(null),[o,s]=x(""),r=()=>te("/api/edit/files",{}).then(n,u=>s(u.message));L(()=>{r()},[]);let a=Ho();if(o)return i`<p class="error" role="alert">${o}</p>`;if(!e)return i`<${Vr} listing=${t} />`;let l=i`<${zr} listing=${t} path=${e} />`;return i`
    <div class="editor">
      <nav class="ed-files" aria-label="Files" aria-busy=${!t}>
        ${a?i`<details><summary>Files of ${t?.folder}</summary>${l}</details>`:l}
      </nav>
      <div class="ed-work"><${Gr} path=${e} listing=${t} onSaved=${r} /></div>
    </div>`}function Vr({listing:e}){return e?e.files.length?i`
    <p>Each change is checked as <code>judgekit validate</code> and <code>judgekit lint</code> check it; nothing is written before you save.</p>
    <div class="wide"><table>
      <thead><tr><th scope="col">file</th><th scope="col">type</th><th scope="col">problems</th></tr></thead>
      <tbody>
        ${e.files.map(t=>i`
          <tr key=${t.path}>
            <th scope="row"><a href=${nn(t.path)}><bdi>${t.path}</bdi></a></th>
            <td>${t.kind}</td>
            <td>${t.n_errors||t.n_warnings?i`<${Ko} file=${t} />`:i`<span class="pass">✓ none</span>`}</td>
          </tr>`)}
      </tbody>
    </table></div>
    <${Uo} files=${e.files} />`:i`<p>There are no files of judgekit in this folder. <code>judgekit init</code> makes a suite to begin with.</p>`:i`<p class="note" aria-busy="true">Reading the folder …</p>`}function Uo({files:e}){let t=e.find(n=>n.command);return t&&i`<p class="note">To run it: <code>${t.command}</code></p>`}function zr({listing:e,path:t}){return e?i`
    <p class="ed-folder"><a href=${Ur}>${e.folder}</a></p>
    <ul>
      ${e.files.map(n=>i`
        <li key=${n.path}>
          <a href=${nn(n.path)} aria-current=${n.path===t?"page":null}><bdi>${n.path}</bdi></a>
          <span class="note">${n.kind} <${Ko} file=${n} /></span>
        </li>`)}
    </ul>
    <${Uo} files=${e.files} />`:i`<p class="note">Reading the folder …</p>`}function Ko({file:e}){let t=[];return e.n_errors&&t.push(i`<span class="fail">✗ ${Fo(e.n_errors,"error")}</span>`),e.n_warnings&&t.push(i`<span class="inconclusive">! ${Fo(e.n_warnings,"warning")}</span>`),t}function Fo(e,t){return`${e} ${t}${e===1?"":"s"}`}function nn(e){return`/edit/${e.split("/").map(encodeURIComponent).join("/")}`}function Gr({path:e,listing:t,onSaved:n}){let[o,s]=x(null),r=A(null),[a,l]=x(""),[u,f]=x(ht().get("view")),[d,$]=x(ht().get("case")),[p,c]=x(null),[h,g]=x(""),[k,w]=x(null),_=A({timer:0,number:0}),b=A(Promise.resolve()),C=A(null),j=Ho(),O=M=>s(r.current={...r.current,...M}),R=async()=>{try{let M=await te("/api/edit/open",{path:e});O({...M,saved:M.text});let B=Number(ht().get("line"));B&&S(B)}catch(M){l(M.message)}};L(()=>{R()},[e]);let P=!!(o&&o.text!==o.saved);L(()=>{if(document.title=`${P?"* ":""}${e}`,!P)return;let M=B=>B.preventDefault();return addEventListener("beforeunload",M),()=>removeEventListener("beforeunload",M)},[P]);let m=async()=>{let M=++_.current.number,{text:B}=r.current;try{let se=await te("/api/edit/check",{path:e,text:B});M===_.current.number&&B===r.current.text&&O(se),l("")}catch(se){l(se.message)}},y=M=>{g(""),O({text:M}),clearTimeout(_.current.timer),_.current.timer=setTimeout(m,Hr)},E=(M,B,se=null)=>{let ge=b.current.then(async()=>{let z,T;do z=r.current.text,T=await te("/api/edit/change",{path:e,text:z,kind:M,where:B,value:se});while(z!==r.current.text);_.current.number++,O(T),l(""),g("")});return b.current=ge.catch(z=>l(z.message)),ge.then(()=>!0,()=>!1)},D=M=>{f(M),qo({view:M})},N=M=>{$(M),qo({case:M})},S=M=>{D("text"),w({line:M})},v=!!o&&!o.is_recorded&&!j,W=async()=>{v&&(C.current=document.activeElement,C.current?.blur(),clearTimeout(_.current.timer),await b.current,await m(),r.current.text===r.current.saved?g("There are no changes to save."):c({kind:"save"}))},ne=()=>{c(null),C.current?.focus()},le=async()=>{let{text:M,version:B,problems:se}=r.current,ge=se.some(z=>z.severity==="error");try{let z=await te("/api/edit/save",{path:e,text:M,version:B,allow_errors:ge});O({saved:M,version:z.version}),ne(),g("Saved."),n()}catch(z){z instanceof Ce&&z.status===409?c({kind:"conflict",disk:z.reply,message:z.message}):c({kind:"save",message:z.message})}},Ve=(M,B)=>{O({saved:M.text,version:M.version}),ne(),B||O({text:M.text}),m()};if(L(()=>{let M=B=>{!(B.ctrlKey||B.metaKey)||B.key.toLowerCase()!=="s"||(B.preventDefault(),p?.kind==="save"?le():p||W())};return addEventListener("keydown",M),()=>removeEventListener("keydown",M)}),!o)return a?i`<p class="error" role="alert">${a}</p>`:i`<p class="note" aria-busy="true">Opening …</p>`;let ce=o.is_recorded||j,ue=Yr(o),de=ue.some(M=>M.name===u)?u:ue[0].name,ze=o.problems.filter(M=>M.path===e);return i`
    <div class="ed-bar">
      <div role="group" aria-label="View" class="ed-views">
        ${ue.map(M=>i`<button aria-pressed=${String(M.name===de)} onClick=${()=>D(M.name)}>${M.label}</button>`)}
      </div>
      <span class="ed-state" role="status">${h||(P?"Not saved":"")}</span>
      ${v&&i`<button class="ed-save" disabled=${!P} onClick=${W}>Save … <kbd>Ctrl+S</kbd></button>`}
    </div>
    ${j&&i`<p class="ed-narrow">This window is too narrow for editing: files can be read here, and edited in a wider one.</p>`}
    ${o.is_recorded&&i`<p class="ed-narrow">This file holds recorded ${o.kind==="recorded replies"?"replies":"results"}: it can be read, but not edited.</p>`}
    ${a&&i`<p class="error" role="alert">${a}</p>`}
    <${Xr} file=${o} path=${e} onJump=${S} />
    <div class="ed-panes">
      <div class="ed-pane">
        ${de==="text"?i`<${Co} path=${e} text=${o.text} problems=${ze} isReadOnly=${ce} target=${k} onInput=${y} />`:i`<div class="ed-form">
              ${de==="cases"&&i`<${jo} file=${o} caseId=${d} onCase=${N} change=${E} isReadOnly=${ce} />`}
              ${de==="rubric"&&i`<${Mo} data=${o.data} change=${E} isReadOnly=${ce} />`}
              ${de==="suite"&&i`<${Ao} data=${o.data} profiles=${o.profiles} change=${E} isReadOnly=${ce} />`}
            </div>`}
      </div>
      ${t&&i`<${Do} path=${e} file=${o} listing=${t} caseId=${d} onCase=${N} isReadOnly=${j} />`}
    </div>
    ${p&&i`<${Wo} dialog=${p} path=${e} file=${o}
      onSave=${le} onSettle=${Ve} onClose=${ne} />`}
  `}function Yr(e){let t=[];return e.form==="rubric"&&Array.isArray(e.data?.criteria)&&t.push({name:"rubric",label:"Criteria"}),e.form==="suite"&&t.push({name:"suite",label:"Suite"}),e.cases_at&&t.push({name:"cases",label:"Cases"}),[...t,{name:"text",label:"Text"}]}var Qr={error:"✗",warning:"!"};function Xr({file:e,path:t,onJump:n}){let o=A(null);Q(()=>{o.current.textContent!==e.summary&&(o.current.textContent=e.summary)},[e.summary]);let s=e.problems.some(r=>r.severity==="error")?"fail":e.problems.length?"inconclusive":"pass";return i`
    <section class=${`ed-problems ${s}`} aria-label="Problems">
      <p><span>${e.kind}: </span><strong role="status" ref=${o}></strong></p>
      ${e.problems.length>0&&i`
        <ul>
          ${e.problems.map(r=>i`
            <li>
              <span class=${r.severity==="error"?"fail":"inconclusive"}>${Qr[r.severity]} ${r.severity}</span>${" "}
              <${Zr} problem=${r} path=${t} onJump=${n} />${" "}
              <bdi>${r.message}</bdi>${r.remedy&&i` <span class="note">(${r.remedy})</span>`}
              ${r.rule&&i` <code>${r.rule}</code>`}
            </li>`)}
        </ul>`}
    </section>`}function Zr({problem:e,path:t,onJump:n}){let o=e.line===null?"":`line ${e.line}`;if(e.path===t)return o&&i`<button class="ed-link" onClick=${()=>n(e.line)}>${o}</button>`;if(!e.path)return null;let s=e.line===null?"":`#view=text&line=${e.line}`;return i`<a href=${nn(e.path)+s}><bdi>${e.path}</bdi> ${o}</a>`}var gt=2;function ea([e,t]){return`/diff?a=${encodeURIComponent(e)}&b=${encodeURIComponent(t)}`}function ta({boxes:e}){let[t,n]=x([]);for(let s of e)s.checked=t.includes(s.value),s.onchange=()=>{let r=t.filter(a=>a!==s.value);n(s.checked?[...r.slice(1-gt),s.value]:r)};let o=gt-t.length;return i`
    <div class="chosen">
      ${o===0?i`<a class="button" href=${ea(t)}>Side by side</a>`:i`<button type="button" disabled>Side by side</button>`}
      ${t.length>0&&i`
        <button type="button" onClick=${()=>n([])}>Clear</button>`}
      <span role="status">${o===gt?"Tick two rows to see them side by side.":o?`${t[0]}; tick one more row.`:`${t[0]} and ${t[1]}`}</span>
    </div>
  `}function Jo(){let e=[...document.querySelectorAll("[data-choice]")];if(e.length<gt)return;let t=e.map(o=>{let s=document.createElement("input");s.type="checkbox",s.value=o.dataset.choice,s.setAttribute("aria-label",`Side by side: ${o.dataset.choice}`);let r=document.createElement("label");return r.className="tick",r.append(s),o.prepend(r),s}),n=document.createElement("div");e[0].closest(".wide").before(n),ee(i`<${ta} boxes=${t} />`,n)}function na({address:e,lines:t}){let[n,o]=x(null),[s,r]=x("");if(L(()=>{let l=new EventSource(e);return l.addEventListener("progress",u=>{let f=JSON.parse(u.data);o(f),r(""),f.lines.forEach((d,$)=>{t[$]&&(t[$].textContent=d)})}),l.addEventListener("end",()=>{l.close(),location.reload()}),l.addEventListener("problem",u=>{l.close(),r(JSON.parse(u.data).text)}),l.onerror=()=>r("judgekit view does not answer. Is it still running?"),()=>l.close()},[e]),!n)return i`<p class="note">${s||"Loading the progress …"}</p>`;let a=n.total?Math.min(1,n.done/n.total):null;return i`
    <div class="live">
      <progress aria-label="Progress of the run" max=${n.total??void 0}
        value=${a===null?void 0:Math.min(n.done,n.total)}></progress>
      <span class="live-text">${n.lines[0]}</span>
    </div>
    <p class="hidden" role="status">${oa(n,a)}</p>
    ${n.hint&&i`<p class="note">${n.hint}</p>`}
    ${s&&i`<p class="note" role="alert">${s}</p>`}
  `}function oa(e,t){return t===null?"":`${Math.floor(t*10)*10} % of ${e.total}`}function Vo(){let e=document.getElementById("live");if(!e)return;let t=document.querySelectorAll("main > dl dd");ee(i`<${na} address=${e.dataset.events} lines=${t} />`,e)}function Ee(e){return{annotator:e,answers:{},flags:{},seconds:{},saved:null,changed:null}}function ae(e,t,n){return e.answers[t.id]?.[n]??null}function Ie(e){return e!=null&&(e.cannot||e.choice!=null)}var Te=e=>e.name??"";function oe(e,t,n,o){let s=ae(t,n,Te(e.criteria[o]));return Ie(s)?e.reason&&!s.cannot&&!s.comment.trim():!0}function _t(e,t,n){return n.criteria.every(o=>!oe(e,t,n,o))}var zo=(e,t)=>(t?.at??"")>(e?.at??"")?t:e;function De(e,t){let n={...e,answers:{...e.answers},flags:{...e.flags},seconds:{...e.seconds}};for(let[s,r]of Object.entries(t.answers)){let a={...n.answers[s]};for(let[l,u]of Object.entries(r))a[l]=zo(a[l],u);n.answers[s]=a}for(let[s,r]of Object.entries(t.flags))n.flags[s]=zo(n.flags[s],r);for(let[s,r]of Object.entries(t.seconds))n.seconds[s]=Math.max(n.seconds[s]??0,r);let o=s=>[e[s],t[s]].filter(Boolean).sort().at(-1)??null;return{...n,saved:o("saved"),changed:o("changed")}}function sa(e){let t=2166136261;for(let n of e)t=Math.imul(t^n.codePointAt(0),16777619);return t=Math.imul(t^t>>>15,2246822507),(t^t>>>13)>>>0}var Go=10;function on(e,t){let n=s=>sa(`${e.packet} ${t} ${s.id}`),o=e.items.filter(s=>!s.again);o.sort((s,r)=>s.part-r.part||n(s)-n(r)||(s.id<r.id?-1:1));for(let s of e.items.filter(r=>r.again)){let r=o.findIndex(a=>a.id===s.again);o.splice(Math.min(o.length,r+Go+n(s)%Go),0,s)}return o}function Yo(e,t,n){return n.flatMap((o,s)=>{let r=o.criteria.map(u=>Te(e.criteria[u])),a=r.filter(u=>Ie(ae(t,o,u))||ae(t,o,u)?.comment.trim());return(a.length||!t.flags[o.id]?.on?a:r.slice(0,1)).map(u=>sn(e,t,o,u,s+1))})}function sn(e,t,n,o,s){let r=ae(t,n,o),a={packet:e.packet,position:s,labelled_at:r?.at??new Date().toISOString()};t.seconds[n.id]&&(a.seconds=Math.round(t.seconds[n.id])),r?.cannot&&(a.cannot_judge=!0),t.flags[n.id]?.on&&(a.flagged=!0);let l={case_id:n.id};return o!==""&&(l.criterion=o),l.annotator=t.annotator,r&&!r.cannot&&r.choice!=null&&(l[e.pairs?"winner":"raw"]=r.choice),r?.comment.trim()&&(l.rationale=r.comment.trim()),l.metadata=a,l}function rn(e,t){let n=new Map(e.items.map(r=>[r.id,r])),o=new Set(t.map(r=>r.annotator));if(o.size>1)throw new Error("This file has the answers of several people. Open a file of one person.");let s=Ee(String([...o][0]??""));for(let r of t){let a=r.metadata??{},l=n.get(r.case_id);if(a.packet!==e.packet||!l)throw new Error("This file belongs to another labelling page, so that its answers do not fit here.");let f={choice:r.raw??r.winner??null,cannot:a.cannot_judge===!0,comment:String(r.rationale??""),at:String(a.labelled_at??"")};s.answers[l.id]={...s.answers[l.id],[r.criterion??""]:f},a.flagged&&(s.flags[l.id]={on:!0,at:f.at}),a.seconds&&(s.seconds[l.id]=a.seconds),f.at>(s.changed??"")&&(s.changed=f.at)}return s}function Qo(e,t){let n=t.split(`
`).map(s=>s.trim()).filter(Boolean),o;try{o=n.map(s=>JSON.parse(s))}catch{throw new Error("This is not a file that this page has saved: it cannot be read.")}if(!o.length||o.some(s=>s===null||typeof s!="object"))throw new Error("This file has no answers.");return rn(e,o)}var an=(e,t)=>`judgekit-label ${e.packet} ${t}`,Xo=e=>`judgekit-label-name ${e.packet}`;function bt(e,t){try{let n=localStorage.getItem(an(e,t));return n?De(Ee(t),JSON.parse(n)):null}catch{return null}}function Zo(e){try{return localStorage.getItem(Xo(e))??""}catch{return""}}function Ne(e,t){let n=De(t,bt(e,t.annotator)??Ee(t.annotator));try{return localStorage.setItem(an(e,t.annotator),JSON.stringify(n)),localStorage.setItem(Xo(e),t.annotator),!0}catch{return!1}}function es(e,t,n){return n===an(e,t)}function ts(e,t){let n=t.map(r=>`${JSON.stringify(r)}
`).join(""),o=URL.createObjectURL(new Blob([n],{type:"application/jsonl"})),s=document.createElement("a");s.href=o,s.download=e,document.body.append(s),s.click(),s.remove(),setTimeout(()=>URL.revokeObjectURL(o),1e3)}function ns(e){return`labels-${e.normalize("NFKD").replace(/[^\p{L}\p{N}]+/gu,"-").replace(/^-+|-+$/g,"").toLowerCase()||"annotator"}.jsonl`}var ra="judgekit-label/1",aa=12e4,ia=5,la=5;function rs(){let e=document.getElementById("label-data"),t=document.getElementById("label");if(!e||!t)return;let n=JSON.parse(e.textContent);if(n.format!==ra)return;let o=[...t.querySelectorAll("#label-task > p")].map(r=>r.textContent),s=t.dataset.answers??null;t.replaceChildren(),ee(i`<${pa} task=${n} intro=${o} store=${s} />`,t)}var ca=e=>[...e].sort((t,n)=>t-n)[Math.floor(e.length/2)],ua=e=>new Date(e).toLocaleTimeString([],{hour:"2-digit",minute:"2-digit"}),yt=(e,t,n=`${t}s`)=>`${e.toLocaleString("en")} ${e===1?t:n}`,da=e=>e.closest?.("input:not([type=checkbox]), textarea, select")!=null,fa=e=>e.closest?.("button, a, summary, label, input")!=null;function pa({task:e,intro:t,store:n}){let[o,s]=x("start"),[r,a]=x(null),[l,u]=x(""),[f,d]=x(!1),[$,p]=x(0),c=A({n:0,last:Promise.resolve()}),h=A(null);h.current=r;function g(P,m){let y={...P,changed:new Date().toISOString()};h.current=y,a(y),d(!Ne(e,y)),n&&m&&k(y,m)}function k(P,m){let y=c.current;p(y.n+=1),y.last=y.last.then(()=>w(P,m)).finally(()=>p(y.n-=1))}async function w(P,{item:m,name:y,position:E}){try{await te(n,{annotator:P.annotator,labels:[sn(e,P,m,y,E)]});let D={...h.current,saved:new Date().toISOString()};h.current=D,a(D),u("")}catch(D){u(`The last answer is not stored: ${D.message} It is kept in this browser; choose it again to store it.`)}}async function _(P){let m=bt(e,P)??Ee(P);if(n)try{let{labels:y}=await te(n,{annotator:P,labels:[]}),E={...rn(e,y),annotator:P};m=De(m,E);for(let[D,N]of on(e,P).entries())for(let S of N.criteria.map(v=>Te(e.criteria[v]))){let[v,W]=[m,E].map(ne=>ae(ne,N,S)?.choice??null);v!==W&&!N.again&&k(m,{item:N,name:S,position:D+1})}}catch(y){u(`The answers that are stored cannot be read: ${y.message}`);return}u(""),a(m),d(!Ne(e,m)),s("items")}function b(P){try{let m=Qo(e,P),y=De(bt(e,m.annotator)??Ee(m.annotator),m);if(u(""),n&&Ne(e,y))return void _(m.annotator);a({...y,saved:y.saved??m.changed}),d(!Ne(e,y)),s("items")}catch(m){u(m.message)}}let C=J(()=>r?on(e,r.annotator):[],[r?.annotator]);function j(){ts(ns(r.annotator),Yo(e,r,C));let P={...h.current,saved:new Date().toISOString()};h.current=P,a(P),Ne(e,P)}L(()=>{let P=y=>{let E=h.current;(n?c.current.n>0:E?.changed&&E.changed>(E.saved??""))&&y.preventDefault()},m=y=>{let E=h.current;if(!E||!y.newValue||!es(e,E.annotator,y.key))return;let D=De(E,JSON.parse(y.newValue));h.current=D,a(D)};return addEventListener("beforeunload",P),addEventListener("storage",m),()=>{removeEventListener("beforeunload",P),removeEventListener("storage",m)}},[]);let O=f?i`<p class="banner fail" role="alert">! This browser does not keep your answers. Use “Save file” often, and before you close the page.</p>`:null,R=l&&i`<p class="banner fail" role="alert">! ${l}</p>`;return o==="practice"?i`<${ss} task=${os(e)} items=${os(e).items} work=${Ee("practice")}
      isPractice leave=${()=>s("start")} />`:o==="start"?i`${R}<${$a} task=${e} intro=${t} isStored=${n!=null} begin=${_} resume=${b}
      practise=${()=>s("practice")} />`:i`${O}${R}<${ss} task=${e} items=${C} work=${r} change=${g} save=${j} isRefused=${f}
    isStored=${n!=null} isSending=${$>0} resume=${b} leave=${()=>s("start")} />`}function $a({task:e,intro:t,isStored:n,begin:o,resume:s,practise:r}){let[a,l]=x(Zo(e)),[u,f]=x("");function d($){$.preventDefault();let p=a.trim().replace(/\s+/g," ");p?o(p):f("Type your name first.")}return i`
    <section aria-label="The task">
      ${t.map($=>i`<p>${$}</p>`)}
      <p>${n?"Every answer is stored at once in the project from which this page is served.":"Your answers are kept in this browser only, and nothing is sent anywhere. Use “Save file” when you have finished, and send that file back."}</p>
    </section>
    <form class="start" onSubmit=${d} novalidate>
      <label for="annotator">Your name</label>
      <input id="annotator" autocomplete="name" maxlength="80" value=${a} aria-describedby="name-gap"
        onInput=${$=>l($.currentTarget.value)} />
      <button class="main">Start</button>
      <button type="button" onClick=${r}>Try it first</button>
      <${as} resume=${s} />
      <p id="name-gap" class="fail" role="alert">${u}</p>
    </form>
    <section aria-label="What is asked">
      ${e.criteria.map($=>i`
        <section class="criterion"><h2>${$.name??"Preference"}</h2><${is} criterion=${$} /></section>`)}
    </section>
    <${ls} task=${e} />
  `}function as({resume:e}){let t=A(null);async function n(o){let[s]=o.currentTarget.files;o.currentTarget.value="",s&&e(await s.text())}return i`<button type="button" onClick=${()=>t.current.click()}>Resume from file</button>
    <input type="file" hidden ref=${t} accept=".jsonl,.json,application/jsonl" aria-label="File of your answers" onChange=${n} />`}var vt=e=>e.levels.every((t,n)=>t.shown===String(n+1));function is({criterion:e}){let t=e.levels?.filter(n=>n.name||n.about)??[];return i`
    <p class="foreign">${e.question}</p>
    ${e.guide&&i`<p class="foreign guide">${e.guide}</p>`}
    ${t.length>0&&i`<dl class="anchors">${t.map(n=>i`
      <dt>${vt(e)||!n.name?n.shown:n.name}</dt>
      <dd>${vt(e)&&n.name}${vt(e)&&n.name&&n.about?": ":""}${n.about}</dd>`)}</dl>`}
  `}function ls({task:e,isOpen:t}){let o=[...e.pairs?[["1","the first is better"],["2","the second is better"],["3","they are equally good"],["0","cannot judge"]]:[["1 … 9","score, by the number on the button; the next criterion follows"],["0","cannot judge this criterion"]],["Enter","next item"],["← →","item before, item after"],["↑ ↓","criterion before, after"],["Backspace","undo the last answer"],["m","comment (Esc leaves it)"],["f","flag this item, to come back to it"],["?","these keys"]];return i`<details class="keys" open=${t}><summary>Keys</summary><dl>${o.map(([s,r])=>i`<dt><kbd>${s}</kbd></dt><dd>${r}</dd>`)}</dl></details>`}function os(e){let t=s=>({text:s,steps:""}),o={id:"practice",part:0,again:"",outputs:e.pairs?[t("You can return it within 30 days, with the receipt."),t("Returns are possible.")]:[t("You can return it within 30 days, with the receipt.")],about:[{title:"Input",text:"I bought a lamp last week. Can I return it?"}],criteria:e.criteria.map((s,r)=>r)};return{...e,packet:"practice",items:[o]}}function ss({task:e,items:t,work:n,change:o,save:s,leave:r,resume:a,isPractice:l,isRefused:u,isStored:f,isSending:d}){let[$,p]=x(n),c=l?$:n,h=t.findIndex(T=>!_t(e,c,T)),[g,k]=x(h<0?t.length:h),[w,_]=x(0),[b,C]=x([]),[j,O]=x(""),[R,P]=x(!0),[m,y]=x(!1),[E,D]=x(0),N=A(null),S=A(null);Q(()=>{S.current&&N.current?.querySelector(S.current)?.focus(),S.current=null});let v=t[g]??null,W=t.filter(T=>_t(e,c,T)).length,ne=ha(v,l);function le(T){let I=Math.max(0,Math.min(t.length,T));k(I);let V=t[I]?.criteria.findIndex(H=>oe(e,c,t[I],H))??0;_(Math.max(0,V)),y(!1),O(I===t.length?"End of the items.":`Item ${I+1} of ${t.length}.`),scrollTo(0,0)}function Ve(T,I,V=!1){let H=Te(e.criteria[v.criteria[T]]),re=ae(c,v,H)??{choice:null,cannot:!1,comment:""},G={...re,...I,at:new Date().toISOString()},Y={...c,answers:{...c.answers,[v.id]:{...c.answers[v.id],[H]:G}},seconds:{...c.seconds,[v.id]:(c.seconds[v.id]??0)+ne.take()}};return"comment"in I||C([...b,{at:g,place:T,before:re}]),l?p(Y):o(Y,V||e.reason&&oe(e,Y,v,v.criteria[T])?null:{item:v,name:H,position:g+1}),Y}function ce(T,I,V){let H=Ve(T,{choice:I,cannot:I===null}),re=e.criteria[v.criteria[T]].name,G=v.criteria.findIndex(wt=>oe(e,H,v,wt)),Y=v.criteria.findIndex((wt,fs)=>fs>T&&oe(e,H,v,wt)),Ge=e.reason&&oe(e,H,v,v.criteria[T]),ds=Ge?T:Y<0?G<0?T:G:Y;_(ds),O(`${V}${re?` for ${re}`:""}. ${G<0?"Enter: next item.":""}`),Ge&&(S.current=`[data-place="${T}"] textarea`)}function ue(){let T=v.criteria.findIndex(re=>oe(e,c,v,re));if(T<0){le(g+1),u&&W%ia===0&&D(W);return}_(T);let I=e.criteria[v.criteria[T]].name,V=ae(c,v,I??"");O(Ie(V)?"A reason is missing.":`Not answered yet${I?`: ${I}`:""}.`);let H=e.pairs||e.criteria[v.criteria[T]].levels.length;S.current=`[data-place="${T}"] ${Ie(V)?"textarea":H?"h3":"input"}`}function de(){let T=b.at(-1);if(!T){O("There is nothing to undo.");return}C(b.slice(0,-1));let I=t[T.at],V=Te(e.criteria[I.criteria[T.place]]),H=ae(c,I,V),re={...T.before,comment:H?.comment??"",at:new Date().toISOString()},G={...c,answers:{...c.answers,[I.id]:{...c.answers[I.id],[V]:re}}};l?p(G):o(G,{item:I,name:V,position:T.at+1}),k(T.at),_(T.place),O("The last answer is undone.")}function ze(){let T=!c.flags[v.id]?.on,I={...c.flags,[v.id]:{on:T,at:new Date().toISOString()}};l?p({...c,flags:I}):o({...c,flags:I}),O(T?"Flagged.":"Flag removed.")}function M(T){if(T.ctrlKey||T.metaKey){T.key==="Enter"&&v&&(T.preventDefault(),ue());return}if(T.altKey||!R||T.defaultPrevented)return;if(da(T.target)){if(T.key==="Escape"){T.target.blur();let V=v?.criteria.findIndex(H=>oe(e,c,v,H))??-1;V>=0&&_(V)}return}let I={"?":()=>y(!m),ArrowLeft:()=>le(g-1),Backspace:de};if(v){let V=e.criteria[v.criteria[w]],H=e.pairs?cs:V.levels??[];(e.pairs?H.map(({value:G,name:Y})=>[G,Y]):H.map(G=>[G.value,G.shown])).forEach(([G,Y],Ge)=>I[Ge+1]=()=>ce(w,G,Y)),!H.length&&/^[1-9.-]$/.test(T.key)&&N.current?.querySelector(`[data-place="${w}"] input`)?.focus(),I[0]=()=>ce(w,null,"Cannot judge"),I.ArrowRight=()=>le(g+1),I.ArrowDown=()=>_(Math.min(v.criteria.length-1,w+1)),I.ArrowUp=()=>_(Math.max(0,w-1)),I.f=ze,I.m=()=>{let G=b.at(-1),Y=G?.at===g&&oe(e,c,v,v.criteria[w])?G.place:w;_(Y),S.current=`[data-place="${Y}"] textarea`,O("Comment.")},fa(T.target)||(I.Enter=ue)}I[T.key]&&(T.preventDefault(),I[T.key]())}let B=A(null);B.current=M,L(()=>{let T=I=>B.current(I);return document.addEventListener("keydown",T),()=>document.removeEventListener("keydown",T)},[]);let se=i`<${ga} task=${e} items=${t} work=${c} nDone=${W} at=${g} isPractice=${l}
    isRefused=${u} isStored=${f} isSending=${d} save=${s} leave=${r} resume=${a} />`,ge=E>0&&u?i`<p class="banner fail" role="alert">! ${yt(E,"item")} done, and this browser does not keep them.
        <button onClick=${()=>{s(),D(0)}}>Save file</button></p>`:null,z=i`<p class="hidden" role="status" aria-live="polite">${j}</p>`;return v?i`
    ${se}${ge}${z}
    ${m&&i`<${ya} task=${e} hasKeys=${R} setHasKeys=${P} close=${()=>y(!1)} />`}
    <div class=${e.pairs?"item pair":"item"}>
      <${_a} task=${e} item=${v} at=${g} />
      <div class="panel" ref=${N} onClick=${ma}>
        ${v.criteria.map((T,I)=>i`
          <${ba} key=${`${v.id} ${T}`} task=${e} criterion=${e.criteria[T]} place=${I} isActive=${I===w}
            isGap=${oe(e,c,v,T)} answer=${ae(c,v,Te(e.criteria[T]))}
            activate=${()=>_(I)} choose=${ce} comment=${(V,H)=>Ve(I,{comment:V},H)} next=${ue} />`)}
        <div class="moves">
          <button onClick=${()=>le(g-1)} disabled=${g===0}>← Back</button>
          <button aria-pressed=${!!c.flags[v.id]?.on} onClick=${ze}>⚑ Flag</button>
          <button onClick=${de} disabled=${!b.length}>Undo</button>
          <button class="main" onClick=${ue}>Next item</button>
        </div>
        <button class="plain" aria-expanded=${m} onClick=${()=>y(!m)}>? Keys</button>
      </div>
    </div>`:i`${se}${ge}${z}<${wa} task=${e} items=${t} work=${c} go=${le} save=${s} leave=${r}
      isPractice=${l} isStored=${f} />`}function ma(e){e.detail&&e.target.closest("button")?.blur()}function ha(e,t){let n=A({last:0,total:0}),o=()=>{let s=performance.now(),r=s-n.current.last;n.current.last&&r<=aa&&!document.hidden&&(n.current.total+=r/1e3),n.current.last=s};return L(()=>{if(t)return;n.current={last:performance.now(),total:0};let s=["keydown","pointerdown","pointermove","wheel"];for(let r of s)addEventListener(r,o,{passive:!0});return()=>s.forEach(r=>removeEventListener(r,o))},[e?.id]),{take(){o();let{total:s}=n.current;return n.current.total=0,s}}}function ga({task:e,items:t,work:n,nDone:o,at:s,isPractice:r,isRefused:a,isStored:l,isSending:u,save:f,leave:d,resume:$}){if(r)return i`<header class="status"><p><strong>Practice</strong> Nothing that you do here is kept.</p>
      <button class="main" onClick=${d}>Back to the start</button></header>`;let p=Object.values(n.seconds).filter(w=>w>0),c=p.length<la?e.seconds:ca(p),h=Math.ceil((t.length-o)*c/60),g=l?"stored":a?"not kept":"kept in this browser",k=u?"storing …":n.changed?a?g:`${g} at ${ua(l?n.saved??n.changed:n.changed)}`:"";return i`
    <header class="status">
      <p><bdi><strong>${n.annotator}</strong></bdi>
        <span>${s<t.length?`item ${s+1} of ${t.length}`:`${t.length} items`}, ${o} done</span>
        ${k&&i`<span>${k}</span>`}
        ${o<t.length&&i`<span>about ${yt(h,"minute")} left</span>`}</p>
      <progress max=${t.length} value=${o} aria-label="Items done"></progress>
      <span class="tools"><button onClick=${f}>Save file</button><${as} resume=${$} />
        <button class="plain" onClick=${d}>Task</button></span>
    </header>`}function _a({task:e,item:t,at:n}){let o=A(null);Q(()=>{document.activeElement===document.body&&o.current?.focus({preventScroll:!0})},[t.id]);let s=e.pairs?["FIRST","SECOND"]:["Output"];return i`
    <div class="texts">
      <h2 ref=${o} tabindex="-1">Item ${n+1}</h2>
      ${t.about.map(({title:r,text:a})=>i`<section><h3>${r}</h3><${ln} text=${a} /></section>`)}
      <div class="outputs">
        ${t.outputs.map((r,a)=>i`
          <section class="output"><h3>${s[a]}</h3>
            ${r.steps&&i`<details><summary>Steps</summary><${ln} text=${r.steps} /></details>`}
            <${ln} text=${r.text} /></section>`)}
      </div>
    </div>`}function ln({text:e}){return i`<div class="foreign">${e.split(/\n{2,}/).map(t=>i`<p dir="auto">${t}</p>`)}</div>`}var cs=[{value:"first",name:"First is better"},{value:"second",name:"Second is better"},{value:"tie",name:"Equally good"}];function ba({task:e,criterion:t,place:n,isActive:o,isGap:s,answer:r,activate:a,choose:l,comment:u,next:f}){let d=`question-${n}`,$=e.pairs?cs.map(({value:c,name:h})=>({value:c,shown:h,name:"",about:""})):t.levels,p=!e.pairs&&vt(t);return i`
    <section class=${o?"question active":"question"} data-place=${n} aria-labelledby=${d} onFocusIn=${a}>
      <h3 id=${d} tabindex="-1"><button class="plain" aria-expanded=${o} onClick=${a}>${t.name??"Preference"}</button>
        <span class=${s?"note":"pass"}>${s?Ie(r)?"reason missing":"open":"✓"}</span></h3>
      ${o&&i`<${is} criterion=${t} />`}
      ${$.length?i`<div class="scale" role="radiogroup" aria-labelledby=${d}>
            ${$.map((c,h)=>i`
              <button role="radio" aria-checked=${String(r?.choice===c.value)} onClick=${()=>l(n,c.value,c.shown)}>
                ${(p||!c.name)&&i`<strong>${c.shown}</strong>`}
                ${p&&c.name&&" "}${c.name&&i`<span>${c.name}</span>`}
                ${!p&&o&&i` <kbd aria-hidden="true">${h+1}</kbd>`}</button>`)}
            <button role="radio" class="cannot" aria-checked=${String(!!r?.cannot)}
              onClick=${()=>l(n,null,"Cannot judge")}><span>Cannot judge</span> ${o&&i`<kbd aria-hidden="true">0</kbd>`}</button>
          </div>`:i`<${va} criterion=${t} answer=${r} place=${n} choose=${l} />`}
      ${(o||r?.comment)&&i`
        <label class="comment"><span>${e.reason?"Reason (required)":"Comment (optional)"}</span>
          <textarea rows="2" value=${r?.comment??""} onInput=${c=>u(c.currentTarget.value,!0)} onChange=${c=>u(c.currentTarget.value)}
            onKeyDown=${c=>{c.key==="Enter"&&!c.shiftKey&&!c.isComposing&&!c.ctrlKey&&!c.metaKey&&(c.preventDefault(),c.currentTarget.blur(),f())}}></textarea></label>`}
    </section>`}function va({criterion:e,answer:t,place:n,choose:o}){let[s,r]=x(t?.choice??""),[a,l]=x("");function u(f){f.preventDefault();let d=Number(s);if(s===""||!(d>=e.min&&d<=e.max)||e.whole&&!Number.isInteger(d)){l(`Type a ${e.whole?"whole number":"number"} from ${e.min} to ${e.max}.`);return}l(""),f.currentTarget.querySelector("input").blur(),o(n,d,String(d))}return i`<form class="scale" onSubmit=${u} novalidate>
    <label>Score, ${e.min} to ${e.max} <input type="number" step="any" min=${e.min} max=${e.max}
      value=${s} onInput=${f=>r(f.currentTarget.value)} /></label>
    <button>Set</button>
    <button type="button" class="cannot" aria-pressed=${!!t?.cannot} onClick=${()=>o(n,null,"Cannot judge")}>Cannot judge</button>
    <p class="fail" role="alert">${a}</p></form>`}function ya({task:e,hasKeys:t,setHasKeys:n,close:o}){return i`<section class="help" aria-label="Keys"><${ls} task=${e} isOpen />
    <label><input type="checkbox" checked=${t} onChange=${s=>n(s.currentTarget.checked)} /> Single keys are on</label>${" "}
    <button onClick=${o}>Close</button></section>`}function wa({task:e,items:t,work:n,go:o,save:s,leave:r,isPractice:a,isStored:l}){let u=A(null);if(Q(()=>u.current?.focus(),[]),a)return i`<section class="end"><h2 ref=${u} tabindex="-1">That was the practice item</h2>
      <button class="main" onClick=${r}>Back to the start</button></section>`;let f=t.map((c,h)=>[c,h]).filter(([c])=>!_t(e,n,c)),d=t.map((c,h)=>[c,h]).filter(([c])=>n.flags[c.id]?.on),$=t.reduce((c,h)=>c+Object.values(n.answers[h.id]??{}).filter(g=>g.cannot).length,0),p=(c,h)=>h.length>0&&i`<h3>${c}</h3><p class="jumps">${h.map(([,g])=>i`<button onClick=${()=>o(g)}>Item ${g+1}</button>`)}</p>`;return i`
    <section class="end">
      <h2 ref=${u} tabindex="-1">${f.length?`${yt(f.length,"item is","items are")} not finished`:"All items are done"}</h2>
      ${$>0&&i`<p>You could not judge ${yt($,"criterion","criteria")}; that is recorded as such.</p>`}
      ${p("Not finished",f)}
      ${p("Flagged",d)}
      ${l?i`<p>Every answer is stored. You can close this page.</p>`:i`<p>Save the file and send it back to whoever gave you this page.</p><button class="main" onClick=${s}>Save file</button>`}
    </section>`}var us=Cn(),cn=document.getElementById("cases");if(us&&cn){cn.querySelector(".static").classList.add("print-only");let e=document.createElement("div");e.className="screen-only",cn.querySelector(".static").before(e),ee(i`<${vo} index=${us} />`,e)}wo();yo();ko(document);Bo();Jo();Vo();rs();})();
