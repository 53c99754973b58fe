/* judgekit, with preact, htm, diff: licences in LICENSES.txt */
(()=>{var q,dn,ds,pe,kt,et,fn,Qe,pn,Ct,xt,fs,We=Symbol.for("pv"),tt={},nt=[],ps=/^m(i|n|o|s|text|space)$/,St=Array.isArray,Et=nt.slice,ve=Object.assign;function be(e){e&&e.parentNode&&e.remove()}function mn(e,t,n){var o,s,r,a={},l=arguments.length;for(r in t)r=="key"?o=t[r]:r=="ref"&&typeof e!="function"?s=t[r]:a[r]=t[r];return l>2&&(a.children=l>3?Et.call(arguments,2):n),Re(e,a,o,s,null)}function Re(e,t,n,o,s){var r={type:e,props:t,key:n,ref:o,__k:null,__:null,__b:0,__e:null,__c:null,constructor:We,__v:s||++dn,__i:-1,__u:0};return!s&&q.vnode&&q.vnode(r),r}function ot(e){return e.children}function Xe(e,t){this.props=e,this.context=t,this.__g=0}function me(e,t){if(t==null)return e.__&&me(e.__,e.__i+1);for(var n;t<e.__k.length;t++)if((n=e.__k[t])&&n.__e)return n.__e;return typeof e.type!="function"||e.props.__P?null:me(e)}function ms(e){var t,n=e.__v,o=n.__e,s=[],r=[],a=e.__P;a&&((t=ve({constructor:We},n)).__v=n.__v+1,q.vnode&&q.vnode(t),Tt(a,t,n,e.__n,a.namespaceURI,32&n.__u?[o]:null,s,o||me(n),32&n.__u,r),t.__v=n.__v,t.__.__k[t.__i]=t,vn(s,t,r),n.__=n.__e=null,t.__e!=o&&$n(t))}function $n(e){if((e=e.__)&&e.__c&&!e.props.__P)return e.__e=null,e.__k.some(function(t){return t&&(e.__e=t.__e)}),$n(e)}function cn(e){(8&e.__g||(e.__g|=8,pe.push(e),et++))&&kt==q.debounceRendering||((kt=q.debounceRendering)||queueMicrotask)(hn)}function hn(){try{for(var e,t=1;pe.length;)pe.length>t&&pe.sort(fn),e=pe.shift(),t=pe.length,8&e.__g&&ms(e)}finally{(et=pe.length)&&(kt||queueMicrotask)(hn)}}function gn(e,t,n,o,s,r,a,l,u,f,d){var m,p,c,h,g,k,w=o.__k||nt,_=t.length;for(u=$s(n,t,w,u,_),m=0;m<_;m++)(c=n.__k[m])!=null&&(p=~c.__i&&w[c.__i]||tt,c.__i=m,k=Tt(e,c,p,s,r,a,l,u,f,d),h=c.__e,(p.ref!=c.ref||8&p.__u)&&(p.ref&&Pt(p.ref,null,c,p),c.ref&&d.push(c.ref,c.__c||h,c)),g=g||h,4&c.__u?(u=_n(c,u,e,!p.__v),p.__e&&(p.__e=null)):typeof c.type=="function"&&k!==void 0?u=k:h&&(u=h.nextSibling),c.__u&=-21);return n.__e=g,u}function $s(e,t,n,o,s){var r,a,l,u,f,d,m,p,c,h=n.length,g=h,k=0,w=0,_=e.__k=Array(s);for(r=0;r<s;r++)(a=t[r])!=null&&typeof a!="boolean"&&typeof a!="function"?(typeof a!="object"||a.constructor===String?a=_[r]=Re(null,a):St(a)?a=_[r]=Re(ot,{children:a}):a.constructor===We&&a.__b?a=_[r]=Re(a.type,a.props,a.key,a.ref,a.__v):_[r]=a,u=r+k,a.__=e,a.__b=e.__b+1,l=null,~(f=a.__i=hs(a,n,u,g))&&(g--,(l=n[f])&&(l.__u|=2)),l&&l.__v?(a.__u|=16,f==u-1?k--:f==u+1?k++:f!=u&&(f>u?k--:k++,w=1)):(~f||(s>h?k--:s<h&&k++),typeof a.type!="function"&&(a.__u|=4))):_[r]=null;if(w){for(d=[],m=[],r=0;r<s;r++)if((a=_[r])&&16&a.__u){for(k=0,p=d.length;k<p;)d[c=k+p>>1]<a.__i?k=c+1:p=c;d[k]=a.__i,m[r]=k+1}for(k=d.length;r--;)m[r]&&(m[r]==k?k--:_[r].__u|=4)}if(g)for(r=0;r<h;r++)!(l=n[r])||2&l.__u||(l.__e==o&&(o=me(l)),Ot(l,l));return o}function _n(e,t,n,o){var s,r,a,l;if(typeof e.type=="function"){if(e.props.__P)return t;if(s=e.__k)for(r=0;r<s.length;r++)s[r]&&(s[r].__=e,t=_n(s[r],t,n,!1));return t}for(t&&!t.parentNode&&(t=me(e))&&!t.parentNode&&(t=null),a=e.__e,l=t;l&&l.nodeType==8;)l=l.nextSibling;for(a!=l&&(!o&&n.moveBefore&&a.parentNode?n.moveBefore(a,t):n.insertBefore(a,t||null)),t=a;(t=t&&t.nextSibling)&&t.nodeType==8&&!t.data.startsWith("$s"););return t}function hs(e,t,n,o){var s,r=e.key,a=e.type,l=t[n],u=l&&!(2&l.__u);if(l===null&&r==null||u&&r==l.key&&a==l.type)return n;if(o>(u?1:0)){for(s=n-1;s>=0;s--)if((l=t[s])&&!(2&l.__u)&&r==l.key&&a==l.type)return s;for(s=n+1;s<t.length;s++)if((l=t[s])&&!(2&l.__u)&&r==l.key&&a==l.type)return s}return-1}function un(e,t,n){n==null&&(n=""),t[0]=="-"?e.setProperty(t,n):e[t]=n}function Ye(e,t,n,o,s){var r,a;if(t=="style")if(typeof n=="string")e.style.cssText=n;else{if(typeof o=="string"&&(e.style.cssText=o=""),o)for(t in o)n&&t in n||un(e.style,t);if(n)for(t in n)o&&n[t]==o[t]||un(e.style,t,n[t])}else if(t[0]=="o"&&t[1]=="n")typeof n!="function"&&(n=null),typeof o!="function"&&(o=null),(e.__e||(e.__e={}))[t]=n,n&&o||(a=xt[t]||(xt[t]=gs(t)),(e.__a||(e.__a={}))[t]=Ct,r=t!=(t=t.replace(pn,"$1")),(t=t.slice(2))[0]<"a"&&(t=t.toLowerCase()),n?e.addEventListener(t,a,r):e.removeEventListener(t,a,r));else{if(s=="http://www.w3.org/2000/svg")t=t.replace(/xlink(H|:h)/,"h").replace(/sName$/,"s");else if(t!="width"&&t!="height"&&t!="href"&&t!="list"&&t!="form"&&t!="tabIndex"&&t!="download"&&t!="rowSpan"&&t!="colSpan"&&t!="role"&&t!="popover"&&t in e)try{return void(e[t]=n??"")}catch{}if(typeof n=="function")return;n==null||n===!1&&t[4]!="-"?e.removeAttribute(t):e.setAttribute(t,t=="popover"&&n==1?"":n)}}function gs(e){return function(t){var n=this.__e;if(n){if(n=n[e],t[Qe]==null)t[Qe]=Ct++;else if(t[Qe]<this.__a[e])return;return n(q.event?q.event(t):t)}}}function Tt(e,t,n,o,s,r,a,l,u,f){var d,m,p,c,h,g,k,w,_,b,C,L,O,R,P,$,y,E,D=t.type;if(t.constructor!==We)return null;128&n.__u&&(u=32&n.__u,d=n.__c.__z)&&(t.__u|=u,m=r=[],d.nodeType==8?l=Ze(d,r):r.push(d),l=r[0]||l),(d=q.__b)&&d(t);e:if(typeof D=="function"){p=a.length;try{if(w=t.props,_=(d=D.prototype)&&d.render,b=(d=D.contextType)&&o[d.__c],C=d?b?b.props.value:d.__:o,(c=n.__c)?(t.__c=c,2&c.__g&&(c.__g|=1)):(_?t.__c=c=new D(w,C):(t.__c=c=new Xe(w,C),c.constructor=D,c.render=bs),b&&b.sub(c),c.state||(c.state={}),c.__n=o,c.__g|=8,c.__h=[],c.__k=[]),_&&(c.__s||(c.__s=c.state),D.getDerivedStateFromProps&&(c.__s==c.state&&(c.__s=ve({},c.__s)),ve(c.__s,D.getDerivedStateFromProps(w,c.__s)))),h=c.props,g=c.state,c.__v=t,n.__c){if(w!==h&&_&&!D.getDerivedStateFromProps&&c.componentWillReceiveProps&&c.componentWillReceiveProps(w,C),t.__v==n.__v&&!(8&c.__g)||!(4&c.__g)&&c.shouldComponentUpdate&&c.shouldComponentUpdate(w,c.__s,C)===!1){t.__v!=n.__v&&(c.props=w,c.state=c.__s,c.__g&=-9),t.__e=n.__e,t.__k=n.__k,t.__k.some(function(N){N&&(N.__=t)}),nt.push.apply(c.__h,c.__k),c.__k=[],c.__h.length&&a.push(c),l=me(n);break e}c.componentWillUpdate&&c.componentWillUpdate(w,c.__s,C),_&&c.componentDidUpdate&&c.__h.push(function(){c.componentDidUpdate(h,g,k)})}else _&&!D.getDerivedStateFromProps&&c.componentWillMount&&c.componentWillMount(),_&&c.componentDidMount&&c.__h.push(c.componentDidMount);c.context=C,c.props=w,c.__P=e,c.__g&=-5,L=q.__r,O=_?25:0;do c.__g&=-9,L&&L(t),d=c.render(c.props,c.state=c.__s,c.context);while(8&c.__g&&++O<25);_&&(nt.push.apply(c.__h,c.__k),c.__k=[]),c.state=c.__s,c.getChildContext&&(o=ve({},o,c.getChildContext())),_&&n.__c&&c.getSnapshotBeforeUpdate&&(k=c.getSnapshotBeforeUpdate(h,g)),R=d&&d.type===ot&&d.key==null?d.props.children:d,w.__P&&(d=l,s=(e=w.__P).namespaceURI,u=r=null,n.props&&n.props.__P!=e&&(n.__k.some(function(N){N&&Ot(N,N)}),n.__k=null),l=n.__k?me(n,0):null),l=gn(e,St(R)?R:[R],t,n,o,s,r,a,l,u,f),w.__P&&(t.__e=null,l=d),t.__u&=-161,m&&m.some(be),c.__h.length&&a.push(c),1&c.__g&&(c.__g&=-4)}catch(N){if(a.length=p,t.__v=null,u||r)if(N&&N.then){if(t.__u|=128|u,r){for(~(y=r.indexOf(l||void 0))||(y=r.length);(E=r[y-1])&&E.nodeType==8;)y--;for(;y<r.length;y++)if(E=r[y])if(r[y]=null,P){if(E==$)break}else{if(E.nodeType!=8)break;E.data.startsWith("$s")&&($=Ze(P=E))}}if(!P){for(;l&&l.nodeType==8&&l.nextSibling;)l=l.nextSibling;P=l}(d=Ze(P=t.__c.__z||(t.__c.__z=P)))?(t.__e=P,l=d):t.__e=l,l=l&&l.nextSibling}else r&&r.some(be);else t.__e=n.__e;t.__k||(t.__k=n.__k||[]),N&&N.then||bn(t),q.__e(N,t,n)}}else l=t.__e=_s(n.__e,t,n,o,s,r,a,u,f,e);return(d=q.diffed)&&d(t),l}function Ze(e,t){if(e&&e.nodeType==8&&e.data.startsWith("$s"))for(var n=1;e=e.nextSibling;){if(e.nodeType==8){if(e.data.startsWith("$s"))n++;else if(e.data.startsWith("/$s")&&!--n)return e}t&&t.push(e)}}function bn(e){e&&(e.__c&&(e.__c.__g|=4),e.__k&&e.__k.some(bn))}function vn(e,t,n){for(var o=0;o<n.length;)Pt(n[o++],n[o++],n[o++]);q.__c&&q.__c(t,e),e.some(function(s){try{e=s.__h,s.__h=[],e.some(function(r){r.call(s)})}catch(r){q.__e(r,s.__v)}})}function _s(e,t,n,o,s,r,a,l,u,f){var d,m,p,c,h,g,k,w,_=n.props||tt,b=t.props,C=t.type;if(C=="svg"?s="http://www.w3.org/2000/svg":C=="math"?s="http://www.w3.org/1998/Math/MathML":s||(s="http://www.w3.org/1999/xhtml"),r){for(d=0;d<r.length;d++)if((h=r[d])&&(C?h.localName==C:h.nodeType==3)){e=h,r[d]=null;break}}if(!e){if(w=f.ownerDocument||document,!C)return w.createTextNode(b);e=w.createElementNS(s,C,b.is?b:f),l&&(q.__m&&q.__m(t,r),l=!1),r=null}if(C){if(f=C=="template"&&e.content||e,r=C=="textarea"&&b.defaultValue!=null?null:r&&Et.call(f.childNodes),!l&&r)for(_={},d=0;d<e.attributes.length;d++)_[(h=e.attributes[d]).name]=h.value;for(d in _)h=_[d],d=="dangerouslySetInnerHTML"?p=h:d=="children"||d in b||d=="value"&&"defaultValue"in b||d=="checked"&&"defaultChecked"in b||Ye(e,d,null,h,s);for(d in b)h=b[d],d=="children"?c=h:d=="dangerouslySetInnerHTML"?m=h:d=="value"?g=h:d=="checked"?k=h:l&&typeof h!="function"||_[d]===h||Ye(e,d,h,_[d],s);m?(l||p&&(m.__html==p.__html||m.__html==e.innerHTML)||(e.innerHTML=m.__html),t.__k=[]):(p&&(e.textContent=""),(C=="foreignObject"||s=="http://www.w3.org/1998/Math/MathML"&&ps.test(C))&&(s="http://www.w3.org/1999/xhtml"),gn(f,St(c)?c:[c],t,n,o,s,r,a,r?r[0]:n.__k&&me(n,0),l,u),r&&r.some(be)),l&&C!="textarea"||(d="value",C=="progress"&&g==null?e.removeAttribute(d):g==null||g===e[d]&&(C!="progress"||g)||Ye(e,d,g,_[d],s),d="checked",k!=null&&k!=e[d]&&Ye(e,d,k,_[d],s))}else _===b||l&&e.data==b||(e.data=b);return e}function Pt(e,t,n,o){try{typeof e=="function"?t?t.__x=e(t)||1:o&&(o=o.__c||o.__e)&&(t=o.__x)&&(o.__x=null,typeof t=="function"?t():e(null)):e.current=t}catch(s){q.__e(s,n)}}function Ot(e,t,n){var o,s,r,a;if(q.unmount&&q.unmount(e),!(o=e.ref)||o.current&&o.current!=e.__e||Pt(o,null,t,e),o=e.__c){if(o.componentWillUnmount)try{o.componentWillUnmount()}catch(l){q.__e(l,t)}o.__P=o.__n=null}if(o=e.__k)for(a=0;a<o.length;a++)o[a]&&Ot(o[a],t,typeof e.type!="function"||n&&!e.props.__P);!n&&(o=e.__c)&&(o=o.__z)&&(s=Ze(o,r=[]))&&(o==e.__e&&r.some(be),be(s),be(o)),n||be(e.__e),e.__e=e.__c=e.__=null}function bs(e,t,n){return this.constructor(e,n)}function ee(e,t){var n,o,s,r;q.__&&q.__(e,t),t.nodeType==9&&(t=t.documentElement),o=(n=e&&32&e.__u)?null:t.__k,t.__k=Re(ot,{children:[e]}),s=[],r=[],Tt(t,t.__k,o||tt,tt,t.namespaceURI,o?null:t.firstChild?Et.call(t.childNodes):null,s,o?o.__e:t.firstChild,n,r),vn(s,t.__k,r),t.__k.props.children=null}q={__e:function(e,t,n,o){for(var s,r,a;t=t.__;)if((s=t.__c)&&!(1&s.__g)){s.__g|=4;try{if((a=(r=s.constructor)&&r.getDerivedStateFromError)&&s.setState(r.getDerivedStateFromError(e)),s.componentDidCatch&&(s.componentDidCatch(e,o||{}),a=1),a&&8&s.__g)return void(s.__g|=2)}catch(l){e=l}}throw et=0,e}},dn=0,ds=function(e){return e!=null&&e.constructor===We},Xe.prototype.setState=function(e,t){var n=this.__s;n&&n!=this.state||(n=this.__s=ve({},this.state)),typeof e=="function"&&(e=e(ve({},n),this.props)),e&&(ve(n,e),this.__v&&(t&&this.__k.push(t),cn(this)))},Xe.prototype.forceUpdate=function(e){this.__v&&(this.__g|=4,e&&this.__h.push(e),cn(this))},Xe.prototype.render=ot,pe=[],et=0,fn=function(e,t){return e.__v.__b-t.__v.__b},Qe=Symbol(),pn=/(PointerCapture)$|Capture$/i,Ct=0,xt={},fs=0;var wn=function(e,t,n,o){var s;t[0]=0;for(var r=1;r<t.length;r++){var a=t[r++],l=t[r]?(t[0]|=a?1:2,n[t[r++]]):t[++r];a===3?o[0]=l:a===4?o[1]=Object.assign(o[1]||{},l):a===5?(o[1]=o[1]||{})[t[++r]]=l:a===6?o[1][t[++r]]+=l+"":a?(s=e.apply(l,wn(e,l,n,["",null])),o.push(s),l[0]?t[0]|=2:(t[r-2]=0,t[r]=s)):o.push(l)}return o},yn=new Map;function kn(e){var t=yn.get(this);return t||(t=new Map,yn.set(this,t)),(t=wn(this,t.get(e)||(t.set(e,t=(function(n){for(var o,s,r=1,a="",l="",u=[0],f=function(p){r===1&&(p||(a=a.replace(/^\s*\n\s*|\s*\n\s*$/g,"")))?u.push(0,p,a):r===3&&(p||a)?(u.push(3,p,a),r=2):r===2&&a==="..."&&p?u.push(4,p,0):r===2&&a&&!p?u.push(5,0,!0,a):r>=5&&((a||!p&&r===5)&&(u.push(r,0,a,s),r=6),p&&(u.push(r,p,0,s),r=6)),a=""},d=0;d<n.length;d++){d&&(r===1&&f(),f(d));for(var m=0;m<n[d].length;m++)o=n[d][m],r===1?o==="<"?(f(),u=[u],r=3):a+=o:r===4?a==="--"&&o===">"?(r=1,a=""):a=o+a[0]:l?o===l?l="":a+=o:o==='"'||o==="'"?l=o:o===">"?(f(),r=1):r&&(o==="="?(r=5,s=a,a=""):o==="/"&&(r<5||n[d][m+1]===">")?(f(),r===3&&(u=u[0]),r=u,(u=u[0]).push(2,0,r),r=0):o===" "||o==="	"||o===`
`||o==="\r"?(f(),r=2):a+=o),r===3&&a==="!--"&&(r=4,u=u[0])}return f(),u})(e)),t),arguments,[])).length>1?t:t[0]}var i=kn.bind(mn);var vs="judgekit-page/1";function st(e){return(Math.abs(e*8%2)===1?Math.round(e*50)/50:e).toFixed(2)}function xn(){let e=document.getElementById("page-index");if(!e)return null;let t=JSON.parse(e.textContent);return t.format===vs?t:null}async function ys(e){let t=Uint8Array.from(atob(e),o=>o.charCodeAt(0)),n=new Blob([t]).stream().pipeThrough(new DecompressionStream("gzip"));return JSON.parse(await new Response(n).text())}async function ws(e){let t=await fetch(e);if(!t.ok)throw new Error(await t.text()||`the server answered ${t.status}`);return t.json()}var ye=new Map,ks=8;function Cn(e){let t=ye.get(e);if(!t){let n=document.getElementById(`chunk-${e}`),o=document.getElementById("page-index").dataset.chunks;t=n?ys(n.textContent):ws(`${o}${e}`),t.catch(()=>ye.delete(e))}return ye.delete(e),ye.set(e,t),ye.size>ks&&ye.delete(ye.keys().next().value),t}async function Sn(e,t){return(await Cn(Math.floor(t/e.chunk)))[t%e.chunk]}var Lt=[];function*En(e){if(typeof e=="string")yield e;else if(e&&typeof e=="object")for(let t of Object.values(e))yield*En(t)}function Mt(e,t){return Lt[t*e.chunk]!==void 0}async function Tn(e,t){let n=t*e.chunk;return Mt(e,t)||(await Cn(t)).forEach((s,r)=>{Lt[n+r]=[...En(s)].join(`
`).toLowerCase()}),Lt.slice(n,n+e.chunk)}var we,K,At,Pn,jt=Object.is,Fe=0,Rn=[],It=[],U=q,On=U.__b,Ln=U.__r,Mn=U.diffed,An=U.__c,jn=U.unmount,In=U.__;function Be(e,t){U.__h&&U.__h(K,e,Fe||t),Fe=0;var n=K.__H||(K.__H={__:[],__h:[]});return e>=n.__.length&&n.__.push({}),n.__[e]}function x(e){return Fe=1,xs(qn,e)}function xs(e,t,n){var o=Be(we++,2);if(o.t=e,!o.__c&&(o.__=[n?n(t):qn(void 0,t),function(r){var a=(o.__N||o.__)[0],l=o.t(a,r);jt(a,l)||(o.__N=[l,o.__[1]],o.__c.setState({}))}],o.__c=K,!K.__f)){K.__f=!0;var s=K.shouldComponentUpdate;K.shouldComponentUpdate=function(r,a,l){var u=this.__H;if(!u)return!0;var f=!1,d=this.props!=r;if(u.__.some(function(p){p.__N&&(f=!0,jt(p.__[0],p.__N[0])||(d=!0))}),s){var m=s.call(this,r,a,l);return f?m||d:m}return!f||d}}return o.__}function A(e,t){var n=Be(we++,3);!U.__s&&Nt(n.__H,t)&&(n.__P=!0,n.__=e,n.u=t,K.__H.__h.push(n))}function Q(e,t){var n=Be(we++,4);!U.__s&&Nt(n.__H,t)&&(n.__P=!1,n.__=e,n.u=t,K.__h.push(n))}function j(e){return Fe=5,J(function(){return{current:e}},[])}function J(e,t){var n=Be(we++,7);return Nt(n.__H,t)&&(n.__=e(),n.__H=t),n.__}function Wn(e,t){return Fe=8,J(function(){return e},t)}function $e(){var e=Be(we++,11);if(!e.__){for(var t=K.__v;!t.__m&&t.__;)t=t.__;var n=t.__m||(t.__m=[0,0]);e.__="P"+n[0]+"-"+n[1]++}return e.__}function Cs(){var e;do{for(;e=It.shift();)try{qe(e)}catch(n){U.__e(n,{__:(e=e.__P)&&e.__v})}for(;e=Rn.shift();){var t=e.__H;if(e.__P&&t)try{t.__h.some(qe),t.__h.some(Dt),t.__h=[]}catch(n){t.__h=[],U.__e(n,e.__v)}}}while(It.length)}U.__b=function(e){K=null,On&&On(e)},U.__=function(e,t){e&&t.__k&&t.__k.__m&&(e.__m=t.__k.__m),In&&In(e,t)},U.__r=function(e){Ln&&Ln(e),we=0;var t=(K=e.__c).__H;t&&(At==K?K.__h=[]:(t.__h.some(qe),t.__h.some(Dt),we=0),t.__h=[],t.__.some(function(n){n.__N&&(n.__=n.__N),n.u=n.__N=void 0})),At=K},U.diffed=function(e){Mn&&Mn(e);var t=e.__c;t&&t.__H&&(t.__H.__h.length&&Nn(Rn.push(t)),t.__H.__.some(function(n){n.u&&(n.__H=n.u)})),At=K=null},U.__c=function(e,t){t.some(function(n){try{n.__h.some(qe),n.__h=n.__h.filter(function(o){return!o.__||Dt(o)})}catch(o){n.__h=[function(){throw o}]}}),An&&An(e,t)},U.unmount=function(e){jn&&jn(e);var t,n,o=e.__c;o&&o.__H&&(o.__H.__.some(function(s){try{if(s.__P&&s.__c){if(n===void 0){for(n=e.__;n&&(!n.__c||!n.__c.__P);)n=n.__;n=n&&n.__c}s.__P=n,Nn(It.push(s))}else qe(s)}catch(r){t=r}}),o.__H=void 0,t&&U.__e(t,o.__v))};var Dn=typeof requestAnimationFrame=="function";function Ss(e){var t,n=function(){clearTimeout(o),Dn&&cancelAnimationFrame(t),setTimeout(e)},o=setTimeout(n,35);Dn&&(t=requestAnimationFrame(n))}function Nn(e){e!=1&&Pn==U.requestAnimationFrame||((Pn=U.requestAnimationFrame)||Ss)(Cs)}function qe(e){var t=K,n=e.__c;typeof n=="function"&&(e.__c=void 0,n()),K=t}function Dt(e){var t=K;e.__c=e.__(),K=t}function Nt(e,t){return!e||e.length!=t.length||t.some(function(n,o){return!jt(n,e[o])})}function qn(e,t){return typeof t=="function"?t(e):t}var Fn=["case","state","variant","tag","stratum","q","sort","answer","with"];function Oe(){let e=new URLSearchParams(location.hash.slice(1));return Object.fromEntries(Fn.filter(t=>e.get(t)).map(t=>[t,e.get(t)]))}function Rt(e){let t=new URLSearchParams;for(let o of Fn)e[o]&&t.set(o,e[o]);let n=t.toString();return n?`#${n}`:""}function Wt(e){return location.href.split("#")[0]+Rt(e)}function Bn(){let[e,t]=x(Oe);A(()=>{let o=()=>t(Oe());return addEventListener("popstate",o),addEventListener("hashchange",o),()=>{removeEventListener("popstate",o),removeEventListener("hashchange",o)}},[]);let n=Wn((o,{push:s=!1}={})=>{let r={...Oe(),...o},a=Wt(r);s?history.pushState({pushed:!0},"",a):history.replaceState(history.state,"",a),t(Oe())},[]);return[e,n]}function ie(e){let[t,n]=x(()=>matchMedia(e).matches);return A(()=>{let o=matchMedia(e),s=()=>n(o.matches);return o.addEventListener("change",s),()=>o.removeEventListener("change",s)},[e]),t}var Hn=2,Es=150;function Ts(e){return J(()=>e.ids.map((t,n)=>[t,e.snippets[n],e.strata[n]??"",...e.tags[n]].join(`
`).toLowerCase()),[e])}var Ps=()=>new Promise(e=>{globalThis.requestIdleCallback?requestIdleCallback(e,{timeout:100}):setTimeout(e)});function Un(e,t){let n=(t??"").trim().toLowerCase(),o=Ts(e),s=J(()=>{if(!n)return null;let l=new Set;return o.forEach((u,f)=>u.includes(n)&&l.add(f)),l},[o,n]),[r,a]=x({needle:"",hits:new Set,share:1});return A(()=>{if(n.length<Hn)return;let l=!0,u=Math.ceil(e.n/e.chunk);async function f(){let d=new Set,m=performance.now();for(let p=0;p<u;p+=1){Mt(e,p)||await Ps();let c=await Tn(e,p);if(!l)return;c.forEach((g,k)=>g.includes(n)&&d.add(p*e.chunk+k));let h=performance.now();p+1<u&&h-m<Es||(m=h,a({needle:n,hits:new Set(d),share:(p+1)/u}))}}return f().catch(d=>l&&a({needle:n,hits:new Set,share:1,error:d})),()=>{l=!1}},[e,n]),J(()=>s?r.needle!==n?{hits:s,share:n.length<Hn?1:0}:{hits:r.hits.union?.(s)??new Set([...s,...r.hits]),share:r.share,error:r.error}:{hits:null,share:1},[s,r,n])}function Os(e,t){if(!t)return e.order;let n=t.startsWith("-"),o=n?t.slice(1):t,s=e.columns.indexOf(o.replace(/^variant:/,"")),r=n?-1:1;if(o==="case"){let l=new Intl.Collator(void 0,{numeric:!0}).compare;return[...e.order].sort((u,f)=>r*l(e.ids[u],e.ids[f]))}if(s<0)return e.order;let a=e.cells[s].value;return[...e.order].sort((l,u)=>a[l]===null||a[u]===null?(a[l]===null)-(a[u]===null):r*(a[l]-a[u]))}function Kn(e,t,n){let o=J(()=>Os(e,t.sort),[e,t.sort]);return J(()=>{let s=e.columns.indexOf(t.variant),r=s<0?null:e.cells[s],a=e.filters.find(d=>d.key===t.state)?.bit??0,l=Object.fromEntries(e.filters.map(d=>[d.key,0])),u=[],f=0;for(let d of o){if(n&&!n.has(d)||r&&r.state[d]===null||t.tag&&!e.tags[d].includes(t.tag)||t.stratum&&e.strata[d]!==t.stratum)continue;let m=r?r.mask[d]:e.masks[d];f+=1;for(let p of e.filters)m&p.bit&&(l[p.key]+=1);(!a||m&a)&&u.push(d)}return{rows:u,counts:l,all:f}},[e,o,t.state,t.variant,t.tag,t.stratum,n])}function Jn(e){let t=new Map;for(let n of e)t.set(n,(t.get(n)??0)+1);return[...t].sort(([n],[o])=>n.localeCompare(o))}function rt({label:e,value:t,options:n,onChoose:o}){return i`<label class="choice">
    <span>${e}</span>
    <select value=${t??""} onChange=${s=>o(s.target.value)}>
      ${n.map(([s,r])=>i`<option value=${s} selected=${s===(t??"")}>${r}</option>`)}
    </select>
  </label>`}function Vn({filter:e,n:t,isOn:n,onClick:o}){return i`<button type="button" aria-pressed=${n} title=${e.title||null} disabled=${t===0&&!n} onClick=${o}>
    ${e.label} <span class="n">${t.toLocaleString("en")}</span>
  </button>`}function zn({index:e,state:t,change:n,selection:o,search:s,searchBox:r,onFound:a,onHelp:l}){let u=ie("(max-width: 44rem)"),[f,d]=x(!1),m=J(()=>Jn(e.tags.flat()),[e]),p=J(()=>Jn(e.strata.filter(b=>b!==null)),[e]),c=b=>C=>n({[b]:C},{push:!0}),h=(b,C)=>[["",C],...b.map(([L,O])=>[L,`${L} (${O.toLocaleString("en")})`])],g=[["","what needs attention first"],["case","by case"],...e.columns.flatMap(b=>[[`variant:${b}`,`${b}, lowest first`],[`-variant:${b}`,`${b}, highest first`]])],k=["variant","tag","stratum","sort"].filter(b=>t[b]).length,w=b=>{b.key!=="Escape"&&b.key!=="Enter"||(b.preventDefault(),b.target.blur(),b.key==="Enter"&&a())},_=Math.floor(s.share*100);return i`<div class="filters" role="search" aria-label="Cases">
    <div class="states" role="group" aria-label="Show">
      <${Vn} filter=${{label:"All"}} n=${o.all} isOn=${!t.state}
        onClick=${()=>c("state")("")} />
      ${e.filters.map(b=>i`<${Vn} key=${b.key} filter=${b}
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
      ${m.length>0&&i`<${rt} label="tag" value=${t.tag} onChoose=${c("tag")} options=${h(m,"any")} />`}
      ${p.length>0&&i`<${rt} label="stratum" value=${t.stratum} onChoose=${c("stratum")} options=${h(p,"any")} />`}
      <${rt} label="order" value=${t.sort} onChoose=${c("sort")} options=${g} />
    </div>`}
    <p class="count">
      <span role="status">${o.rows.length.toLocaleString("en")} of ${e.n.toLocaleString("en")} ${e.n===1?"case":"cases"}</span>
      ${s.share<1&&i`<span class="progress">, searching all texts: ${_} %</span>`}
      ${s.error&&i`<span class="fail">, the texts could not be searched: ${s.error.message}</span>`}
      ${Ls(t)&&i` <button type="button" class="plain" onClick=${()=>n({state:"",variant:"",tag:"",stratum:"",q:"",sort:""},{push:!0})}>Show all</button>`}
    </p>
  </div>`}function Ls(e){return["state","variant","tag","stratum","q","sort"].some(t=>e[t])}var Ms=34,As=108,Gn=8;function js(e,t){if(t===null)return 2;let n=e==="fail"?1-t:t;return 1+Math.min(3,Math.max(0,Math.floor(n*4)))}function Is({index:e,column:t,row:n,isAt:o,tag:s="td"}){let r=e.cells[t],a=r.state[n],l=e.columns[t],u=s==="td"?"cell":null;if(a===null)return s==="td"&&i`<td role="cell" class=${o?"cell at":"cell"} data-column=${t}></td>`;let{label:f,sign:d,tone:m}=e.states[a],p=r.value[n],c=r.text[n]||(p===null?"":st(p));return i`<${s} role=${u} class=${`cell ${m}-fill s${js(m,p)}${o?" at":""}`}
    data-column=${t} title=${`${l}: ${f}`}>
    ${s!=="td"&&i`<bdi class="name">${l}</bdi> `}
    <span class=${`sign ${m}`} aria-hidden="true">${d}</span> ${c||i`<span class="word">${f}</span>`}
    ${c&&i`<span class="hidden">, ${f}</span>`}
  <//>`}function Yn({name:e,sortKey:t,state:n,change:o,className:s}){let r=n.sort===t,a=n.sort===`-${t}`,l=r?`-${t}`:a?"":t;return i`<th scope="col" role="columnheader" class=${s} aria-sort=${r?"ascending":a?"descending":null}>
    <button type="button" class="sort" title=${`Sort by ${e}`} onClick=${()=>o({sort:l},{push:!0})}>
      <bdi>${e}</bdi><span aria-hidden="true">${r?" ▲":a?" ▼":""}</span>
    </button>
  </th>`}function Qn({index:e,rows:t,state:n,change:o,active:s,setActive:r,column:a,openRow:l,focusing:u}){let f=j(null),d=j(!1),m=ie("(max-width: 44rem)"),p=m?As:Ms,[c,h]=x({top:0,height:800}),g=()=>{let{scrollTop:$,clientHeight:y}=f.current,E=Math.floor($/p)*p;h(D=>D.top===E&&D.height===y?D:{top:E,height:y})};Q(()=>{g();let $=new ResizeObserver(g);return $.observe(f.current),()=>$.disconnect()},[p,t.length]),Q(()=>{f.current.scrollTop=0},[n.state,n.variant,n.tag,n.stratum,n.q,n.sort]),Q(()=>{if(s<0)return;let{scrollTop:$,clientHeight:y}=f.current,E=s*p;E<$?f.current.scrollTop=E:E+2*p>$+y&&(f.current.scrollTop=E+2*p-y),g()},[s,p]);let k=Math.max(0,Math.floor(c.top/p)-Gn),w=Math.min(t.length,Math.ceil((c.top+c.height)/p)+Gn);A(()=>{if(u.current===s&&s>=k&&s<w){u.current=-1;let $=f.current.querySelector(`[data-place="${s}"]`);d.current=!0,$.querySelector("a").focus({preventScroll:!0}),d.current=!1,$.scrollIntoView({block:"nearest"})}});let _=e.tags.some($=>$.length>0)||e.strata.some($=>$!==null),b=$=>[e.strata[$],...e.tags[$]].filter(Boolean),C=2+(_?1:0)+e.columns.length,L=$=>i`<tr role="presentation" class="spacer" aria-hidden="true">
    <td role="presentation" colspan=${C} ref=${y=>y&&(y.style.height=`${$*p}px`)}></td></tr>`,O=$=>{$&&($.style.minWidth=m?"":`${(_?540:420)+108*e.columns.length}px`)},R=$=>{let y=$.target.closest("tr[data-row]");if(!y||$.ctrlKey||$.metaKey||$.shiftKey||!getSelection().isCollapsed)return;$.preventDefault();let E=$.target.closest("[data-column]")?.dataset.column;r(Number(y.dataset.place)),l(Number(y.dataset.row),E===void 0?void 0:e.columns[E])},P=e.columns.length<=4&&e.columns.some($=>$.length>12);return i`<div class=${P?"grid few":"grid"} ref=${f} onScroll=${g}>
    <table role="table" aria-label="Cases" aria-rowcount=${t.length+1} ref=${O} onClick=${R}>
      <colgroup><col class="c-id" /><col />${_&&i`<col class="c-tags" />`}
        ${e.columns.map(()=>i`<col class="c-value" />`)}</colgroup>
      <thead role="rowgroup"><tr role="row" aria-rowindex="1">
        <${Yn} name="case" sortKey="case" state=${n} change=${o} />
        <th scope="col" role="columnheader">input</th>
        ${_&&i`<th scope="col" role="columnheader">tags</th>`}
        ${e.columns.map($=>i`<${Yn} key=${$} name=${$} sortKey=${`variant:${$}`} state=${n} change=${o} />`)}
      </tr></thead>
      <tbody role="rowgroup">
        ${k>0&&L(k)}
        ${t.slice(k,w).map(($,y)=>{let E=k+y,D=E===s,N=S=>e.columns.map((v,W)=>i`<${Is} key=${v} tag=${S} index=${e} column=${W} row=${$} isAt=${D&&W===a} />`);return i`<tr key=${$} role="row" data-row=${$} data-place=${E} aria-rowindex=${E+2} class=${D?"active":null}>
            <th scope="row" role="rowheader" class="id"><a href=${Rt({...n,case:e.ids[$]})}
              tabindex=${D||s<0&&E===0?0:-1}
              onFocus=${()=>d.current||r(E)}><bdi>${e.ids[$]}</bdi></a></th>
            <td role="cell" class="snippet" dir="auto">${e.snippets[$]}</td>
            ${_&&i`<td role="cell" class="tags" title=${b($).join(", ")}>${b($).map(S=>i`<bdi class="tag">${S}</bdi> `)}</td>`}
            ${m?i`<td role="cell" class="cells">${N("span")}</td>`:N("td")}
          </tr>`})}
        ${w<t.length&&L(t.length-w)}
      </tbody>
    </table>
    ${t.length===0&&i`<p class="empty">${e.n===0?"There are no cases yet.":"No case matches. “Show all” removes the filters."}</p>`}
  </div>`}var Xn="judgekit-single-keys";function Ds(){try{return localStorage.getItem(Xn)!=="off"}catch{return!0}}function Ns(e){try{localStorage.setItem(Xn,e?"on":"off")}catch{}}function Zn(){let[e,t]=x(Ds);return[e,n=>{Ns(n),t(n)}]}function Le(e,t){let n=j(null);n.current=t?e:{},A(()=>{let o=s=>{if(s.defaultPrevented||s.ctrlKey||s.metaKey||s.altKey||s.target.closest?.("input:not([type=checkbox]), select, textarea, [contenteditable]"))return;let r=n.current[s.key];r&&r()!==!1&&s.preventDefault()};return document.addEventListener("keydown",o),()=>document.removeEventListener("keydown",o)},[])}function qt({label:e,className:t,onClose:n,children:o}){let s=j(null);return A(()=>{s.current.showModal(),s.current.focus()},[]),i`<dialog ref=${s} class=${t} aria-label=${e} tabindex="-1"
    onCancel=${r=>{r.preventDefault(),n()}}
    onClick=${r=>r.target===s.current&&n()}>${o}</dialog>`}function eo({rows:e,isOn:t,setOn:n,onClose:o}){return i`<${qt} label="Keyboard shortcuts" className="help" onClose=${o}>
    <div class="inside">
      <header><h2>Keyboard shortcuts</h2><button type="button" onClick=${o} aria-label="Close">✕</button></header>
      <table><tbody>${e.map(([s,r])=>i`<tr>
        <th scope="row">${s.split(" ").map(a=>i`<kbd>${a}</kbd> `)}</th><td>${r}</td></tr>`)}</tbody></table>
      <label class="check"><input type="checkbox" checked=${t} onChange=${s=>n(s.target.checked)} />
        Use shortcuts of a single key</label>
    </div>
  <//>`}var Rs=/\r(?!\n)|[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]|\udb40[\udc00-\udc7f]/g,Ws=/^ {0,3}(```|~~~)[^\n]*\n[\s\S]*?(?:^ {0,3}\1[^\n]*$|$(?![\s\S]))/gm;function F(e){let t=[],n=0;for(let o of e.matchAll(Rs)){let s=`U+${o[0].codePointAt(0).toString(16).toUpperCase().padStart(4,"0")}`;t.push(e.slice(n,o.index),i`<span class="chip" title="invisible character">${s}</span>`),n=o.index+o[0].length}return n?[...t,e.slice(n)]:e}function qs(e,t,n){let o=new Set([0,e.length]);for(let{start:r,end:a}of[...t,...n])o.add(r).add(a);let s=[...o].sort((r,a)=>r-a);return s.slice(1).map((r,a)=>{let l=s[a],u=f=>f.start<=l&&r<=f.end;return{start:l,end:r,marks:t.filter(u),isCode:n.some(u)}})}function X({text:e,mono:t=!1,marks:n=[],at:o=null,onPick:s=null,label:r=null}){let a=t?[]:[...e.matchAll(Ws)].map(u=>({start:u.index,end:u.index+u[0].length})),l=qs(e,n,a).map(u=>{let f=F(e.slice(u.start,u.end)),d=u.isCode?i`<span class="code">${f}</span>`:f;if(u.marks.length===0)return d;let m=u.marks.filter(w=>w.no),p=u.marks.map(w=>w.note).filter(Boolean),c=m.map(w=>w.no),h=m.filter(w=>w.end===u.end).map(w=>w.no),g=c.length>0?[`${c.length>1?"quotes":"quote"} ${c.join(", ")}`]:[],k=[`n${Math.min(3,u.marks.length)}`,c.includes(o)&&"at",p.length>0&&"scrubbed"];return i`<mark class=${k.filter(Boolean).join(" ")}
      data-quotes=${c.join(" ")} data-ends=${h.join(" ")||null}
      title=${[...g,...p].join("; ")}
      onClick=${s&&c.length>0?()=>s(c[0]):null}>${d}${p.length>0&&i`<span class="hidden"> (${p.join("; ")})</span>`}</mark>`});return i`<div class=${`passage${t?" mono":""}`} dir="auto" tabindex="0" role="group" aria-label=${r}>${l}</div>`}var Fs={pass:"✓",fail:"✗",inconclusive:"?",error:"!"};function he({tone:e,children:t}){return i`<span class=${`badge ${e}-fill`}><span class=${e} aria-hidden="true">${Fs[e]??""}</span> ${t}</span>`}function He({facts:e}){return e.length>0&&i`<p class="facts">${e.map((t,n)=>i`${n>0&&" · "}<bdi>${F(t)}</bdi>`)}</p>`}function Bs({quote:e,isAt:t,onPick:n}){let o=e.match===null?i`<span class="fail">not found in the output</span>`:e.match==="exact"?null:i`<span class="note">found but for white space</span>`;return i`<li class=${t?"at":null} data-quote=${e.no}>
    ${e.match===null?i`<span class="number" aria-hidden="true">${e.no}</span>`:i`<button type="button" class="number" onClick=${()=>n(e.no)} title="Show it in the output">
          <span class="hidden">quote </span>${e.no}</button>`}
    <q dir="auto">${F(e.text)}</q> ${o}</li>`}function to({exchange:e,omitted:t,isOpen:n}){return e?i`<details class="exchange" open=${n}>
    <summary>Prompt and reply</summary>
    ${e.note&&i`<p class="note">${e.note}</p>`}
    ${e.messages.map(o=>i`<h5>${o.role}</h5><${X} text=${o.text} label=${o.role} />`)}
    ${e.reply!==null&&i`<h5>reply</h5><${X} text=${e.reply} mono label="reply" />`}
  </details>`:t&&i`<details class="exchange" open=${n}><summary>Prompt and reply</summary><p class="note">${t}</p></details>`}function Hs({judgment:e,exchange:t,view:n}){return i`<div class="judgment">
    <p><strong>${e.score}</strong><span class="dim"> → ${e.value}</span> <span class="dim"><bdi>${F(e.judge)}</bdi></span></p>
    <${He} facts=${e.facts} />
    <p class="rationale" dir="auto">${F(e.rationale)}</p>
    ${e.quotes.length>0&&i`<ol class="quotes">${e.quotes.map(o=>i`<${Bs} key=${o.no} quote=${o} isAt=${n.quote===o.no} onPick=${n.pick} />`)}</ol>`}
    <${to} exchange=${t} omitted=${n.omitted} isOpen=${n.isPromptOpen} />
  </div>`}function Us({failure:e,exchange:t,view:n}){return i`<div class="judgment">
    <p><${he} tone="error">no judgment: ${e.kind}<//> <span class="dim"><bdi>${F(e.judge)}</bdi></span></p>
    <p class="rationale" dir="auto">${F(e.message)}</p>
    ${e.reply&&i`<details><summary>What the judge wrote</summary><${X} text=${e.reply} mono label="reply" /></details>`}
    <${to} exchange=${t} omitted=${n.omitted} isOpen=${n.isPromptOpen} />
  </div>`}function Ks(e){let t=new Map(e.criteria.map(s=>[s.name,{...s,judgments:[],failures:[]}])),n=s=>(t.has(s)||t.set(s,{name:s,value:"",tone:"neutral",facts:[],judgments:[],failures:[]}),t.get(s)),o=s=>e.exchanges[e.exchange_of[s]]??null;return e.judgments.forEach((s,r)=>n(s.criterion).judgments.push([s,o(r)])),e.failures.forEach((s,r)=>n(s.criterion).failures.push([s,o(e.judgments.length+r)])),[...t.values()]}function Js({group:e,question:t,view:n}){return i`<section class=${`criterion ${e.tone}-edge`}>
    <h4><bdi>${F(e.name)}</bdi> ${e.value&&i`<${he} tone=${e.tone}>${e.value}<//>`}</h4>
    <${He} facts=${e.facts} />
    ${t&&i`<p class="question" dir="auto">${F(t)}</p>`}
    ${e.judgments.map(([o,s])=>i`<${Hs} judgment=${o} exchange=${s} view=${n} />`)}
    ${e.failures.map(([o,s])=>i`<${Us} failure=${o} exchange=${s} view=${n} />`)}
  </section>`}function no({check:e}){return i`<li><${he} tone=${e.tone==="inconclusive"?"error":e.tone}>${e.word}<//> <strong>${F(e.type)}</strong>
    <span dir="auto"> ${F(e.message)}</span>
    ${e.actual!==null&&i`<div class="dim">found <code>${F(e.actual)}</code></div>`}
    ${e.parts.length>0&&i`<ul class="checks">${e.parts.map(t=>i`<${no} check=${t} />`)}</ul>`}
  </li>`}function oo({answer:e,view:t}){return i`
    <h3>output</h3>
    ${e.error!==null&&i`<p class="no-output"><${he} tone="error">no output<//> <span dir="auto">${F(e.error)}</span></p>`}
    ${e.output?i`<${X} text=${e.output} mono=${e.mono} marks=${e.marks} at=${t.quote} onPick=${t.pick} label="output" />`:e.error===null&&i`<p class="note">The output is empty.</p>`}
    ${e.steps&&i`<h3>steps, as the judge was shown them</h3>
      <${X} text=${e.steps.text} marks=${e.steps.marks} at=${t.quote} onPick=${t.pick} label="steps" />`}`}function so({answer:e,questions:t,view:n}){let o=Ks(e);return i`
    ${e.checks.length>0&&i`<h3>assertions</h3><ul class="checks">${e.checks.map(s=>i`<${no} check=${s} />`)}</ul>`}
    ${o.length>0&&i`<h3>judgments</h3>${o.map(s=>i`<${Js} key=${s.name} group=${s} question=${t[s.name]} view=${n} />`)}`}
    ${e.scores.length>0&&i`<h3>scores</h3><table class="scores"><tbody>${e.scores.map(s=>i`<tr>
      <th scope="row"><bdi>${F(s.name)}</bdi></th><td class="number">${s.value}</td><td dir="auto">${F(s.text)}</td></tr>`)}</tbody></table>`}
    ${e.checks.length+o.length+e.scores.length===0&&i`<p class="note">Nothing was checked or judged.</p>`}`}var Vs=400;function zs({title:e,text:t,mono:n}){let o=i`<${X} text=${t} mono=${n} label=${e||"content"} />`;return t.length<=Vs?i`${e&&i`<div class="part">${F(e)}</div>`}${o}`:i`<details><summary>${F(e)||"content"}, ${t.length.toLocaleString("en")} characters</summary>${o}</details>`}function ro({trace:e}){let t=Math.max(0,...e.map(o=>o.ms??0)),n=o=>s=>s&&(s.style.width=`${Math.max(1,100*o.ms/t)}%`);return i`<ol class="timeline">
    ${e.map(o=>i`<li class=${o.is_error?"is-error":null}>
      <div class="event"><span class="type">${o.is_error?"! ":""}${F(o.type)}</span>
        ${o.name&&i`<strong><bdi>${F(o.name)}</bdi></strong>`}
        ${o.took&&i`<span class="took">${o.took}</span>`}
      </div>
      ${o.ms!==null&&t>0&&i`<div class="track" aria-hidden="true"><div ref=${n(o)}></div></div>`}
      ${o.parts.map(s=>i`<${zs} ...${s} />`)}
    </li>`)}
  </ol>`}var ge=class{diff(t,n,o={}){let s;typeof o=="function"?(s=o,o={}):"callback"in o&&(s=o.callback);let r=this.castInput(t,o),a=this.castInput(n,o),l=this.removeEmpty(this.tokenize(r,o)),u=this.removeEmpty(this.tokenize(a,o));return this.diffWithOptionsObj(l,u,o,s)}diffWithOptionsObj(t,n,o,s){var r;let a=_=>{if(_=this.postProcess(_,o),s){setTimeout(function(){s(_)},0);return}else return _},l=n.length,u=t.length,f=1,d=l+u;o.maxEditLength!=null&&(d=Math.min(d,o.maxEditLength));let m=(r=o.timeout)!==null&&r!==void 0?r:1/0,p=Date.now()+m,c=[{oldPos:-1,lastComponent:void 0}],h=this.extractCommon(c[0],n,t,0,o);if(c[0].oldPos+1>=u&&h+1>=l)return a(this.buildValues(c[0].lastComponent,n,t));let g=-1/0,k=1/0,w=()=>{for(let _=Math.max(g,-f);_<=Math.min(k,f);_+=2){let b,C=c[_-1],L=c[_+1];C&&(c[_-1]=void 0);let O=!1;if(L){let P=L.oldPos-_;O=L&&0<=P&&P<l}let R=C&&C.oldPos+1<u;if(!O&&!R){c[_]=void 0;continue}if(!R||O&&C.oldPos<L.oldPos?b=this.addToPath(L,!0,!1,0,o):b=this.addToPath(C,!1,!0,1,o),h=this.extractCommon(b,n,t,_,o),b.oldPos+1>=u&&h+1>=l)return a(this.buildValues(b.lastComponent,n,t))||!0;c[_]=b,b.oldPos+1>=u&&(k=Math.min(k,_-1)),h+1>=l&&(g=Math.max(g,_+1))}f++};if(s)(function _(){setTimeout(function(){if(f>d||Date.now()>p)return s(void 0);w()||_()},0)})();else for(;f<=d&&Date.now()<=p;){let _=w();if(_)return _}}addToPath(t,n,o,s,r){let a=t.lastComponent;return a&&!r.oneChangePerToken&&a.added===n&&a.removed===o?{oldPos:t.oldPos+s,lastComponent:{count:a.count+1,added:n,removed:o,previousComponent:a.previousComponent}}:{oldPos:t.oldPos+s,lastComponent:{count:1,added:n,removed:o,previousComponent:a}}}extractCommon(t,n,o,s,r){let a=n.length,l=o.length,u=t.oldPos,f=u-s,d=0;for(;f+1<a&&u+1<l&&this.equals(o[u+1],n[f+1],r);)f++,u++,d++,r.oneChangePerToken&&(t.lastComponent={count:1,previousComponent:t.lastComponent,added:!1,removed:!1});return d&&!r.oneChangePerToken&&(t.lastComponent={count:d,previousComponent:t.lastComponent,added:!1,removed:!1}),t.oldPos=u,f}equals(t,n,o){return o.comparator?o.comparator(t,n):t===n||!!o.ignoreCase&&t.toLowerCase()===n.toLowerCase()}removeEmpty(t){let n=[];for(let o=0;o<t.length;o++)t[o]&&n.push(t[o]);return n}castInput(t,n){return t}tokenize(t,n){return Array.from(t)}join(t){return t.join("")}postProcess(t,n){return t}get useLongestToken(){return!1}buildValues(t,n,o){let s=[],r;for(;t;)s.push(t),r=t.previousComponent,delete t.previousComponent,t=r;s.reverse();let a=s.length,l=0,u=0,f=0;for(;l<a;l++){let d=s[l];if(d.removed)d.value=this.join(o.slice(f,f+d.count)),f+=d.count;else{if(!d.added&&this.useLongestToken){let m=n.slice(u,u+d.count);m=m.map(function(p,c){let h=o[f+c];return h.length>p.length?h:p}),d.value=this.join(m)}else d.value=this.join(n.slice(u,u+d.count));u+=d.count,d.added||(f+=d.count)}}return s}};function Ft(e,t){let n;for(n=0;n<e.length&&n<t.length;n++)if(e[n]!=t[n])return e.slice(0,n);return e.slice(0,n)}function Bt(e,t){let n;if(!e||!t||e[e.length-1]!=t[t.length-1])return"";for(n=0;n<e.length&&n<t.length;n++)if(e[e.length-(n+1)]!=t[t.length-(n+1)])return e.slice(-n);return e.slice(-n)}function at(e,t,n){if(e.slice(0,t.length)!=t)throw Error(`string ${JSON.stringify(e)} doesn't start with prefix ${JSON.stringify(t)}; this is a bug`);return n+e.slice(t.length)}function it(e,t,n){if(!t)return e+n;if(e.slice(-t.length)!=t)throw Error(`string ${JSON.stringify(e)} doesn't end with suffix ${JSON.stringify(t)}; this is a bug`);return e.slice(0,-t.length)+n}function Me(e,t){return at(e,t,"")}function Ue(e,t){return it(e,t,"")}function Ht(e,t){return t.slice(0,Gs(e,t))}function Gs(e,t){let n=0;e.length>t.length&&(n=e.length-t.length);let o=t.length;e.length<t.length&&(o=e.length);let s=Array(o),r=0;s[0]=0;for(let a=1;a<o;a++){for(t[a]==t[r]?s[a]=s[r]:s[a]=r;r>0&&t[a]!=t[r];)r=s[r];t[a]==t[r]&&r++}r=0;for(let a=n;a<e.length;a++){for(;r>0&&e[a]!=t[r];)r=s[r];e[a]==t[r]&&r++}return r}function Ut(e,t){let n=[];for(let o of Array.from(t.segment(e))){let s=o.segment;n.length&&/\s/.test(n[n.length-1])&&/\s/.test(s)?n[n.length-1]+=s:n.push(s)}return n}function lt(e,t){if(t)return Ae(e,t)[1];let n;for(n=e.length-1;n>=0&&e[n].match(/\s/);n--);return e.substring(n+1)}function ke(e,t){if(t)return Ae(e,t)[0];let n=e.match(/^\s*/);return n?n[0]:""}function Ae(e,t){if(!t)return[ke(e),lt(e)];if(t.resolvedOptions().granularity!="word")throw new Error('The segmenter passed must have a granularity of "word"');let n=Ut(e,t),o=n[0],s=n[n.length-1],r=/\s/.test(o)?o:"",a=/\s/.test(s)?s:"";return[r,a]}var ct="a-zA-Z0-9_\\u{AD}\\u{C0}-\\u{D6}\\u{D8}-\\u{F6}\\u{F8}-\\u{2C6}\\u{2C8}-\\u{2D7}\\u{2DE}-\\u{2FF}\\u{1E00}-\\u{1EFF}",Ys=new RegExp(`[${ct}]+|\\s+|[^${ct}]`,"ug"),Kt=class extends ge{equals(t,n,o){return o.ignoreCase&&(t=t.toLowerCase(),n=n.toLowerCase()),t.trim()===n.trim()}tokenize(t,n={}){let o;if(n.intlSegmenter){let a=n.intlSegmenter;if(a.resolvedOptions().granularity!="word")throw new Error('The segmenter passed must have a granularity of "word"');o=Ut(t,a)}else o=t.match(Ys)||[];let s=[],r=null;return o.forEach(a=>{/\s/.test(a)?r==null?s.push(a):s.push(s.pop()+a):r!=null&&/\s/.test(r)?s[s.length-1]==r?s.push(s.pop()+a):s.push(r+a):s.push(a),r=a}),s}join(t){return t.map((n,o)=>o==0?n:n.replace(/^\s+/,"")).join("")}postProcess(t,n){if(!t||n.oneChangePerToken)return t;let o=null,s=null,r=null;return t.forEach(a=>{a.added?s=a:a.removed?r=a:((s||r)&&ao(o,r,s,a,n.intlSegmenter),o=a,s=null,r=null)}),(s||r)&&ao(o,r,s,null,n.intlSegmenter),t}},io=new Kt;function Vt(e,t,n){return n?.ignoreWhitespace!=null&&!n.ignoreWhitespace?ut(e,t,n):io.diff(e,t,n)}function ao(e,t,n,o,s){if(t&&n){let[r,a]=Ae(t.value,s),[l,u]=Ae(n.value,s);if(e){let f=Ft(r,l);e.value=it(e.value,l,f),t.value=Me(t.value,f),n.value=Me(n.value,f)}if(o){let f=Bt(a,u);o.value=at(o.value,u,f),t.value=Ue(t.value,f),n.value=Ue(n.value,f)}}else if(n){if(e){let r=ke(n.value,s);n.value=n.value.substring(r.length)}if(o){let r=ke(o.value,s);o.value=o.value.substring(r.length)}}else if(e&&o){let r=ke(o.value,s),[a,l]=Ae(t.value,s),u=Ft(r,a);t.value=Me(t.value,u);let f=Bt(Me(r,u),l);t.value=Ue(t.value,f),o.value=at(o.value,r,f),e.value=it(e.value,r,r.slice(0,r.length-f.length))}else if(o){let r=ke(o.value,s),a=lt(t.value,s),l=Ht(a,r);t.value=Ue(t.value,l)}else if(e){let r=lt(e.value,s),a=ke(t.value,s),l=Ht(r,a);t.value=Me(t.value,l)}}var Jt=class extends ge{tokenize(t){let n=new RegExp(`(\\r?\\n)|[${ct}]+|[^\\S\\n\\r]+|[^${ct}]`,"ug");return t.match(n)||[]}},lo=new Jt;function ut(e,t,n){return lo.diff(e,t,n)}var zt=class extends ge{constructor(){super(...arguments),this.tokenize=Qs}equals(t,n,o){return o.ignoreWhitespace?((!o.newlineIsToken||!t.includes(`
`))&&(t=t.trim()),(!o.newlineIsToken||!n.includes(`
`))&&(n=n.trim())):o.ignoreNewlineAtEof&&!o.newlineIsToken&&(t.endsWith(`
`)&&(t=t.slice(0,-1)),n.endsWith(`
`)&&(n=n.slice(0,-1))),super.equals(t,n,o)}},co=new zt;function Ke(e,t,n){return co.diff(e,t,n)}function Qs(e,t){t.stripTrailingCr&&(e=e.replace(/\r\n/g,`
`));let n=[],o=e.split(/(\n|\r\n)/);o[o.length-1]||o.pop();for(let s=0;s<o.length;s++){let r=o[s];s%2&&!t.newlineIsToken?n[n.length-1]+=r:n.push(r)}return n}var uo=300,Xs=.2,Gt=typeof Intl.Segmenter=="function"?new Intl.Segmenter(void 0,{granularity:"word"}):void 0;function Zs(e,t){return!e||!t?[{value:e||t,removed:!t,added:!e}]:Vt(e,t,{intlSegmenter:Gt,timeout:uo})??Ke(e,t,{timeout:uo})??null}function er(e,t,n){return e.filter(r=>!r.added&&!r.removed).reduce((r,a)=>r+a.value.trim().length,0)/Math.max(1,Math.min(t.trim().length,n.trim().length))}function tr(e){return Gt?[...Gt.segment(e)].filter(t=>t.isWordLike).length:e.split(/\s+/).filter(Boolean).length}function nr(e,t){if(e===t)return{summary:e?"Both texts are the same.":"Both texts are empty.",parts:[]};let n=Zs(e,t);if(n&&!n.some(s=>s.added||s.removed))return{summary:"Only white space differs.",parts:n};if(!n||e&&t&&er(n,e,t)<Xs)return{summary:"The texts have little in common.",parts:[{value:e,removed:!0},{value:t,added:!0}],isWhole:!0};let o=s=>n.reduce((r,a)=>r+(a[s]?tr(a.value):0),0);return{summary:`Words removed: ${o("removed")}. Words added: ${o("added")}.`,parts:n}}function or({part:e,isWhole:t}){if(!e.added&&!e.removed)return e.value;let[n,o]=e.added?["ins","added: "]:["del","removed: "];return i`<${n} class=${t?"whole":""}><span class="hidden">${o}</span>${e.value}<span class="hidden">, end. </span></${n}>`}function xe({a:e,b:t}){let n=J(()=>nr(e,t),[e,t]);return i`
    <div class="word-diff">
      <p class="note" role="status">${n.summary}</p>
      ${n.parts.length>0&&i`
        <div class="diff-text" dir="auto" tabindex="-1">
          ${n.parts.map(o=>i`<${or} part=${o} isWhole=${n.isWhole} />`)}
        </div>`}
    </div>`}var sr=new Set(["sides","comparison","ranking","items","changes"]),po=e=>sr.has(e);function mo({facts:e}){return e?.length>0&&i`<p class="note">${e.join(" · ")}</p>`}function Yt({output:e}){return i`
    <section class="side">
      <h4><bdi>${e.name}</bdi></h4>
      <${mo} facts=${e.facts} />
      ${e.error&&i`<p class="error">${e.error}</p>`}
      ${e.output&&i`<${X} text=${e.output} marks=${e.marks} label=${e.name} />`}
      ${!e.output&&!e.error&&i`<p class="note">The output is empty.</p>`}
    </section>`}function fo({label:e,outputs:t,value:n,onPick:o}){return i`<label>${e} <select value=${n} onChange=${s=>o(Number(s.target.value))}>
    ${t.map((s,r)=>i`<option value=${r} selected=${r===n}>${s.name}</option>`)}
  </select></label>`}function rr(e){let t=e.findIndex(n=>n.column!==e[0].column);return[0,t<0?Math.min(1,e.length-1):t]}function ar(e){return e.closest?.("input, textarea, select, [contenteditable]")}function ir({outputs:e,areKeysOn:t}){let[[n,o],s]=x(rr(e)),[r,a]=x(!1),l=j(null),u=()=>s(([m,p])=>[p,m]);if(A(()=>{if(!t)return;let m=p=>{if(!(p.ctrlKey||p.metaKey||p.altKey||ar(p.target))){if(p.key==="s")u();else if(p.key==="d")a(c=>!c);else if(p.key==="n"||p.key==="N")lr(l.current,p.key==="n"?1:-1);else return;p.preventDefault()}};return document.addEventListener("keydown",m),()=>document.removeEventListener("keydown",m)},[t]),e.length===0)return i`<p class="note">The output is not known here.</p>`;if(e.length===1)return i`<${Yt} output=${e[0]} />`;let[f,d]=[e[n],e[o]];return i`
    <div class="pair" ref=${l}>
      <div class="pair-tools">
        ${e.length>2&&i`
          <${fo} label="Left" outputs=${e} value=${n} onPick=${m=>s([m,o])} />
          <${fo} label="Right" outputs=${e} value=${o} onPick=${m=>s([n,m])} />`}
        <button type="button" aria-pressed=${r} aria-keyshortcuts="d" onClick=${()=>a(!r)}>Word diff</button>
        <button type="button" aria-keyshortcuts="s" onClick=${u}>Swap sides</button>
      </div>
      ${r?i`<h4>From <bdi>${f.name}</bdi> to <bdi>${d.name}</bdi></h4><${xe} a=${f.output} b=${d.output} />`:i`<div class="pair-columns"><${Yt} output=${f} key=${n} /><${Yt} output=${d} key=${`right-${o}`} /></div>`}
    </div>`}function lr(e,t){let n=[...e?.querySelectorAll("ins, del")??[]];if(n.length===0)return;let o=n.findIndex(r=>r.classList.contains("current")),s=n[(o+t+n.length)%n.length];n[o]?.classList.remove("current"),s.classList.add("current"),s.tabIndex=-1,s.focus(),s.scrollIntoView({block:"nearest"})}function cr({quote:e}){let t=e.of?`output ${e.of}`:"the output",n={exact:"",normalized:"",fuzzy:"similar passage"}[e.match]??`not in ${t}`;return i`<li><q dir="auto">${e.text}</q> <sup>${e.no}</sup> <span class="note">${[e.of&&e.match?t:"",e.match?n:`not in ${t}`].filter(Boolean).join(", ")}</span></li>`}function ur({row:e}){return i`
    <div class="opinion">
      <p><bdi>${e.who}</bdi>: <strong class=${e.tone}>${e.score}</strong></p>
      <${mo} facts=${e.facts} />
      ${e.rationale?i`<p class="rationale" dir="auto">${e.rationale}</p>`:i`<p class="note">no reason</p>`}
      ${e.quotes.length>0&&i`<ul class="pair-quotes">${e.quotes.map(t=>i`<${cr} quote=${t} />`)}</ul>`}
    </div>`}function dr({point:e}){return i`<li><span dir="auto">${e.text}</span>
    ${e.quote&&i` <q dir="auto">${e.quote}</q>`}
    ${e.after&&i`<${xe} a=${e.before} b=${e.after} />`}</li>`}function fr(e){let t=new Map,n=(o,s)=>t.set(o,[...t.get(o)??[],s]);for(let o of e){for(let s of o.judgments??[]){let r=[s.judge,...s.facts];n(s.criterion,{...s,who:o.name,facts:r})}for(let s of o.failures??[]){let r={score:s.kind,tone:"inconclusive",rationale:s.message};n(s.criterion,{...r,who:o.name,facts:[s.judge],quotes:[]})}for(let s of o.checks??[]){let r=s.actual===null?[]:[s.actual];n(s.type,{who:o.name,score:s.word,tone:s.tone,facts:r,rationale:s.message,quotes:[]})}}return[...t].map(([o,s])=>({title:o,rows:s}))}function $o({row:e,areKeysOn:t=!0}){let n=e.opinions??fr(e.answers);return i`
    <div class="pair-body">
      ${e.texts.map(o=>i`
        <details open=${o.title==="input"}><summary>${o.title}</summary><${X} text=${o.text} mono=${o.mono} label=${o.title} /></details>`)}
      <h3>${e.answers.length>1?"Outputs":"Output"}</h3>
      <${ir} outputs=${e.answers} areKeysOn=${t} key=${e.id} />
      ${n.length>0&&i`<h3>Judgments</h3>`}
      ${n.map(o=>i`
        <section class="group">
          <h4><bdi>${o.title}</bdi></h4>
          ${o.result&&i`<p class="result">${o.result}</p>`}
          <div class="pair-columns">${o.rows.map(s=>i`<${ur} row=${s} />`)}</div>
        </section>`)}
      ${(e.points??[]).map(o=>i`
        <h3>${o.title}</h3>
        <ul>${o.points.map(s=>i`<${dr} point=${s} />`)}</ul>`)}
    </div>`}function pr(e,t){let[n,o]=x(null);return A(()=>{let s=!0;return Sn(e,t).then(r=>s&&o({place:t,row:r}),r=>s&&o({place:t,error:r})),()=>{s=!1}},[e,t]),n?.place===t?n:null}function ho({index:e,row:t,at:n,onChoose:o,isBeside:s}){if(t.answers.length===1)return null;let a=f=>[e.columns[f.column],f.round].filter(Boolean).join(", "),l=[...t.answers.keys()];return i`<div class="tabs"><div role="tablist" aria-label="Answers" onKeyDown=${f=>{let d={ArrowLeft:-1,ArrowRight:1}[f.key];if(!d)return;f.preventDefault(),f.stopPropagation();let m=(n+d+l.length)%l.length;o(m),f.currentTarget.querySelectorAll("[role=tab]")[m].focus()}}>
    ${t.answers.map((f,d)=>{let{sign:m,tone:p,label:c}=e.states[f.state],h=!s&&d===n;return i`<button type="button" role="tab" id=${`tab-${d}`} aria-controls="answer" aria-selected=${h}
        tabindex=${d===n?0:-1} onClick=${()=>o(d)}>
        <span class=${p} aria-hidden="true">${m}</span> <bdi>${a(f)}</bdi>
        <span class="hidden">, ${c}</span>${f.value&&i`<span class="dim"> ${f.value}</span>`}</button>`})}</div>
    <button type="button" aria-pressed=${s} onClick=${()=>o(n,!s)}>Side by side</button></div>`}function go({label:e,row:t,index:n,value:o,onChoose:s}){return i`<label class="choice"><span>${e}</span><select value=${o} onChange=${r=>s(Number(r.target.value))}>
    ${t.answers.map((r,a)=>i`<option value=${a} selected=${a===o}>${n.columns[r.column]}${r.round&&`, ${r.round}`}</option>`)}
  </select></label>`}function mr({index:e,row:t,questions:n,a:o,b:s,onChoose:r}){let[a,l]=[t.answers[o],t.answers[s]],u=[...new Set([...a.criteria,...l.criteria].map(p=>p.name))],f=(p,c)=>{let h=p.criteria.find(g=>g.name===c);return h?i`<${he} tone=${h.tone}>${h.value}<//>`:"–"},d=(p,c)=>p.judgments.filter(h=>h.criterion===c).map(h=>i`<p dir="auto">${F(h.rationale)}</p>`),m=p=>e.states[p.state];return i`<div class="beside">
    <div class="choices">
      <${go} label="from" row=${t} index=${e} value=${o} onChoose=${p=>r(p,s)} />
      <${go} label="to" row=${t} index=${e} value=${s} onChoose=${p=>r(o,p)} />
    </div>
    <h3>output</h3>
    <${xe} a=${a.output} b=${l.output} />
    <h3>judgments</h3>
    <div class="wide"><table class="pair"><thead><tr><th scope="col">criterion</th>${[a,l].map(p=>i`<th scope="col"><bdi>${e.columns[p.column]}</bdi> ${p.round}</th>`)}</tr></thead>
      <tbody><tr><th scope="row">verdict</th>${[a,l].map(p=>i`<td><${he} tone=${m(p).tone}>${m(p).label} ${p.value??""}<//></td>`)}</tr>
      ${u.map(p=>i`<tr><th scope="row" title=${n[p]??null}><bdi>${F(p)}</bdi></th>
        ${[a,l].map(c=>i`<td>${f(c,p)}${d(c,p)}</td>`)}</tr>`)}</tbody></table></div>
  </div>`}var $r=["reference","context"];function hr({index:e,row:t,state:n,change:o,body:s,areKeysOn:r}){let a={...e.questions,...t.questions},l=n.answer??n.variant,u=S=>[e.columns[t.answers[S].column],t.answers[S].round].filter(Boolean).join(", "),f=[...t.answers.keys()],d=S=>{let v=f.findIndex(W=>u(W)===S);return v>=0?v:f.findLastIndex(W=>e.columns[t.answers[W].column]===S)},m=Math.max(0,d(l)),p=d(n.with),c=t.answers[m],[h,g]=x(null),[k,w]=x(!1),_=ie("(max-width: 60rem)"),[b,C]=x("texts");A(()=>g(null),[t,m]);let L=J(()=>c?[...c.marks,...c.steps?.marks??[]].map(S=>S.no):[],[c]),O=(S,v,W=()=>{})=>{C(S),requestAnimationFrame(()=>requestAnimationFrame(()=>{let ne=s.current?.querySelector(v);ne?.scrollIntoView({block:"nearest"}),ne&&W(ne)}))},R=S=>(g(S),O("texts",`mark[data-quotes~="${S}"]`)),P=S=>(g(S),O("judgments",`li[data-quote="${S}"]`)),$=(S,v=!1)=>o({answer:u(S),with:v?u((S+1)%f.length):""}),y=S=>()=>f.length>1&&p<0&&$((m+S+f.length)%f.length);Le({ArrowLeft:y(-1),ArrowRight:y(1),e:()=>L.length>0&&R(L[(L.indexOf(h)+1)%L.length]),r:()=>O("texts",'[data-text="reference"]',S=>S.querySelector(".passage").focus()),p:()=>{w(!k),O("judgments",".exchange")}},r);let E=e.omitted.replies??"",D={quote:h,isPromptOpen:k,omitted:E},N=S=>t.texts.filter(v=>$r.includes(v.title)===S).map(v=>i`<section data-text=${v.title} class="given"><h3>${v.title}</h3>
      <${X} text=${v.text} mono=${v.mono} label=${v.title} /></section>`);return p>=0&&p!==m?i`<${ho} index=${e} row=${t} at=${m} onChoose=${$} isBeside />
      <div id="answer"><${mr} index=${e} row=${t} questions=${a} a=${m} b=${p}
        onChoose=${(S,v)=>o({answer:u(S),with:u(S===v?(S+1)%f.length:v)})} />${N(!1)}${N(!0)}</div>`:i`<${ho} index=${e} row=${t} at=${m} onChoose=${$} isBeside=${!1} />
    ${c&&i`<div class="verdict"><${he} tone=${e.states[c.state].tone}>
      ${e.states[c.state].label} ${c.value??""}<//> <${He} facts=${[c.round,...c.facts].filter(Boolean)} /></div>`}
    ${_&&i`<div class="parts" role="group" aria-label="Show">${[["texts","Output and texts"],["judgments","Judgments"]].map(([S,v])=>i`<button type="button" aria-pressed=${b===S} onClick=${()=>C(S)}>${v}</button>`)}</div>`}
    <div class="columns" id="answer" role=${f.length>1?"tabpanel":null} aria-labelledby=${f.length>1?`tab-${m}`:null}>
      ${(!_||b==="texts")&&i`<div>${N(!1)}${c&&i`<${oo} answer=${c} view=${{...D,pick:P}} />`}
        ${N(!0)}${c?.trace.length>0&&i`<h3>trace</h3><${ro} trace=${c.trace} />`}</div>`}
      ${c&&(!_||b==="judgments")&&i`<div><${so} answer=${c} questions=${a} view=${{...D,pick:R}} /></div>`}
    </div>`}function _o({index:e,place:t,rows:n,state:o,change:s,onClose:r,onMove:a,areKeysOn:l,onHelp:u}){let f=pr(e,t),d=j(null),[m,p]=x(""),c=n.indexOf(t),h=e.ids[t];A(()=>{p(""),d.current&&(d.current.scrollTop=0)},[t]);let g=Wt({...o,case:h}),k=async()=>{try{await navigator.clipboard.writeText(g),p("Link copied.")}catch{p(`The browser does not allow copying; the link is ${g}`)}};Le({"[":()=>a(-1),"]":()=>a(1),j:()=>a(1),k:()=>a(-1),c:()=>{k()},"?":u},l);let w=po(e.kind)?$o:hr;return i`<${qt} label=${`Case ${h}`} className="drawer" onClose=${r}>
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
        <p role="status" class="notice">${m}</p>
      </header>
      <div class="body" ref=${d} aria-busy=${f===null}>
        ${f?.error&&i`<p class="fail">This case cannot be shown: ${f.error.message}. Reload the page; if that does not help, write it again.</p>`}
        ${f?.row&&i`<${He} facts=${f.row.facts??[]} />
          <${w} key=${t} index=${e} row=${f.row} state=${o} change=${s} body=${d} areKeysOn=${l} />`}
      </div>
    </div>
  <//>`}var gr=[["?","this list"],["/","search; Enter goes to the first case found"],["j k","next, previous row"],["← →","variant"],["Enter","open the case"],["1 … 5","filters: all, then as listed"],["Esc","close"],["[ ]","in a case: previous, next case"],["e","in a case: next piece of evidence"],["r","in a case: reference"],["p","in a case: prompt and reply of the judge"],["c","in a case: copy a link to it"]];function bo({index:e}){let[t,n]=Bn(),o=Un(e,t.q),s=Kn(e,t,o.hits),{rows:r}=s,a=J(()=>new Map(e.ids.map((S,v)=>[S,v])),[e]),l=t.case===void 0?void 0:a.get(t.case),[{active:u},f]=x({active:-1}),[d,m]=x(-1),p=j({row:-1,column:-1}),c=S=>{p.current.row=S,f({active:S})},[h,g]=x(!1),[k,w]=Zn(),_=j(null),b=J(()=>{let S=new Set(e.cells.flatMap(v=>[...new Set(v.state)]));return e.states.filter((v,W)=>S.has(W))},[e]),C=j(-1),L=S=>{if(r.length===0)return;let v=Math.min(r.length-1,Math.max(0,S));C.current=v,c(v)},O=(S,v)=>n({case:e.ids[S],answer:v??e.columns[p.current.column]??"",with:""},{push:!0}),R=()=>{history.state?.pushed?history.back():n({case:"",answer:"",with:""})},P=S=>{let v=r.indexOf(a.get(Oe().case)),W=r[v<0?0:v+S];W!==void 0&&n({case:e.ids[W],with:""})},$=j(l);A(()=>{$.current!==void 0&&l===void 0&&L(r.indexOf($.current)),$.current=l},[l]),A(()=>c(Math.min(p.current.row,r.length-1)),[r]);let y=S=>()=>n({state:S},{push:!0}),E=S=>()=>{let v=e.columns.length,W=p.current.column;return p.current.column=W<0?S>0?0:v-1:(W+S+v)%v,m(p.current.column),!0},D=l===void 0&&!h;Le({"?":()=>g(!0),"/":()=>_.current.focus(),j:()=>L(p.current.row+1),k:()=>L(p.current.row-1),1:y(""),...Object.fromEntries(e.filters.slice(0,8).map((S,v)=>[v+2,y(S.key)]))},D&&k);let N=()=>document.activeElement?.closest?.("tr[data-row]")!==null;return Le({ArrowDown:()=>N()&&(L(p.current.row+1),!0),ArrowUp:()=>N()&&(L(p.current.row-1),!0),ArrowLeft:()=>N()&&E(-1)(),ArrowRight:()=>N()&&E(1)(),Enter:()=>document.activeElement?.matches?.("tr[data-row] a")&&(O(r[p.current.row]),!0)},D),i`
    <p class="legend note">${b.map(({label:S,sign:v,tone:W})=>i`<span><span class=${W} aria-hidden="true">${v}</span> ${S}</span>`)}</p>
    <${zn} index=${e} state=${t} change=${n} selection=${s} search=${o}
      searchBox=${_} onFound=${()=>L(0)} onHelp=${()=>g(!0)} />
    ${t.case!==void 0&&l===void 0&&i`<p class="fail" role="alert">There is no case “${t.case}” on this page.</p>`}
    <${Qn} index=${e} rows=${r} state=${t} change=${n} active=${u} setActive=${c}
      column=${d} openRow=${O} focusing=${C} />
    ${l!==void 0&&i`<${_o} index=${e} place=${l} rows=${r} state=${t} change=${n}
      onClose=${R} onMove=${P} areKeysOn=${k&&!h} onHelp=${()=>g(!0)} />`}
    ${h&&i`<${eo} rows=${gr} isOn=${k} setOn=${w} onClose=${()=>g(!1)} />`}
  `}function _r(e){if(e.scrollWidth>e.clientWidth)e.tabIndex=0,e.setAttribute("role","group"),e.setAttribute("aria-label",br(e));else for(let t of["tabindex","role","aria-label"])e.removeAttribute(t)}function br(e){for(let t=e;t&&t.id!=="main";t=t.parentElement)for(let n=t.previousElementSibling;n;n=n.previousElementSibling)if(/^H[1-6]$/.test(n.tagName))return n.textContent;return e.querySelector("th, figcaption, svg")?.textContent||document.title}function vo(){let e=new ResizeObserver(t=>t.forEach(n=>_r(n.target)));for(let t of document.querySelectorAll(".wide"))e.observe(t)}var Z=null,Ce=null,Je=0;function vr(){return Z||(Z=document.createElement("div"),Z.id="tip",Z.className="tip",Z.setAttribute("role","tooltip"),Z.popover="manual"),Z}function yr(e){let t=e.getBoundingClientRect(),{width:n,height:o}=Z.getBoundingClientRect(),s=Math.min(Math.max(6,t.left),Math.max(6,innerWidth-n-6)),r=t.bottom+6,a=r+o>innerHeight&&t.top>o+6?t.top-o-6:r;Z.style.left=`${s}px`,Z.style.top=`${a}px`}function Qt(e){if(clearTimeout(Je),Ce===e)return;je(),Ce=e;let t=vr();t.textContent=e.dataset.tip,(e.closest("dialog[open], main")??document.body).append(t),t.showPopover(),yr(e),e.ariaLabel!==e.dataset.tip&&e.setAttribute("aria-describedby",t.id)}function je(){clearTimeout(Je),Ce&&(Ce.removeAttribute("aria-describedby"),Ce=null,Z.matches(":popover-open")&&Z.hidePopover())}function dt(e){let t=e instanceof Element?e.closest("[data-tip], .term[title], td[title], th[title]"):null;return t?.title&&(t.dataset.tip=t.title,t.removeAttribute("title")),t}function yo(e=document){for(let t of e.querySelectorAll(".term[title]"))dt(t),t.tabIndex=0;for(let t of e.querySelectorAll("[data-tip] > * > title"))t.remove()}document.addEventListener("pointerover",e=>{if(e.pointerType==="touch")return;let t=dt(e.target);t?Qt(t):Z?.contains(e.target)?clearTimeout(Je):Ce&&(clearTimeout(Je),Je=setTimeout(je,200))});document.addEventListener("focusin",e=>{let t=dt(e.target);t&&Qt(t)});document.addEventListener("focusout",je);document.addEventListener("click",e=>{let t=dt(e.target);t?Qt(t):je()});document.addEventListener("keydown",e=>{e.key==="Escape"&&Ce&&(je(),e.stopImmediatePropagation(),e.preventDefault())},!0);document.addEventListener("scroll",je,{capture:!0,passive:!0});function wo(e){for(let t of e.querySelectorAll(".text-change")){let[n,o]=[...t.querySelectorAll("pre")].map(s=>s.textContent);t.replaceChildren(),ee(i`<${xe} a=${n} b=${o} />`,t)}}var Se=class extends Error{constructor(t,n,o=null){super(t),this.status=n,this.reply=o}};function Xt(){return ko()!==void 0}function ko(){return document.querySelector('meta[name="judgekit-token"]')?.content}async function te(e,t){if(!Xt())throw new Se("This page can change nothing: it is for reading only.",0);let n;try{n=await fetch(e,{method:"POST",headers:{"content-type":"application/json","x-judgekit-token":ko()},body:JSON.stringify(t)})}catch{throw new Se("judgekit view does not answer. Is it still running?",0)}let o=await n.text(),r=n.headers.get("content-type")?.startsWith("application/json")?JSON.parse(o):null;if(!n.ok)throw new Se(r?.error??o,n.status,r);return r}var ft=20;function xo({path:e,text:t,problems:n,isReadOnly:o,target:s,onInput:r}){let a=j(null),l=j(null),[u,f]=x({top:0,height:600}),d=()=>a.current&&f({top:a.current.scrollTop,height:a.current.clientHeight});Q(()=>{a.current.value!==t&&(a.current.value=t)},[t]),A(()=>{let g=new ResizeObserver(d);return g.observe(a.current),()=>g.disconnect()},[]),Q(()=>{l.current.style.transform=`translateY(${-(u.top%ft)}px)`},[u]),A(()=>{if(!s)return;let g=t.split(`
`),k=g.slice(0,s.line-1).reduce((w,_)=>w+_.length+1,0);a.current.focus(),a.current.setSelectionRange(k,k+(g[s.line-1]??"").length),a.current.scrollTop=Math.max(0,(s.line-4)*ft),a.current.scrollLeft=0,d()},[s]);let m=new Map;for(let g of n){let k=m.get(g.line);m.set(g.line,{severity:k?.severity==="error"?"error":g.severity,words:k?`${k.words}
${g.message}`:g.message})}let p=t.split(`
`).length,c=Math.floor(u.top/ft),h=Math.min(p-c,Math.ceil(u.height/ft)+1);return i`
    <div class="ed-text">
      <div class="ed-gutter" aria-hidden="true">
        <div ref=${l}>
          ${Array.from({length:Math.max(0,h)},(g,k)=>{let w=c+k+1,_=m.get(w),b=_&&(_.severity==="error"?"✗":"!");return i`<div class=${_?`ed-${_.severity}`:""} title=${_?.words}>${b} ${w}</div>`})}
        </div>
      </div>
      <textarea ref=${a} wrap="off" spellcheck=${!1} autocomplete="off" aria-label=${`Text of ${e}`}
        readOnly=${o} onScroll=${d} onInput=${g=>r(g.target.value)} />
    </div>`}var wr=400,Co=90,Zt=500,kr={assertions:[],scorers:[],variants:[],suites:[],needs:[],examples:[],tags:[],stratum:"",metadata:{},evaluation:{},judge:{},gate:{},settings:{},compare:{},prices:{},columns:{},panel:{}};function xr(e,t){let[n,o]=x(e),s=j({draft:e,value:e,timer:0});s.current.commit=t,A(()=>{s.current.draft===s.current.value&&o(s.current.draft=e),s.current.value=e},[e]);let r=()=>{clearTimeout(s.current.timer),s.current.draft!==s.current.value&&(s.current.value=s.current.draft,s.current.commit(s.current.draft))};return A(()=>r,[]),[n,l=>{o(s.current.draft=l),clearTimeout(s.current.timer),s.current.timer=setTimeout(r,wr)},r]}function Eo(e,t){let[n,o]=x(e);return A(()=>o(e),[e]),[n,async r=>{o(r),await t(r)||o(e)}]}function le({label:e,value:t,onCommit:n,lines:o=1,hint:s="",problem:r="",type:a="text"}){let l=$e(),[u,f,d]=xr(t,n),m=j(null),p=Math.min(16,Math.max(o,u.split(`
`).length)),c=r||s?`${l}-about`:null,h={id:l,value:u,"aria-describedby":c,"aria-invalid":r?"true":null,onInput:g=>f(g.target.value),onBlur:d};return i`
    <div class="ed-field">
      <label for=${l}>${e}</label>
      ${o===1?i`<input type=${a} ref=${m} ...${h} />`:i`<textarea rows=${p} ...${h} />`}
      ${c&&i`<p id=${c} class=${r?"fail":"note"}>${r||s}</p>`}
    </div>`}function Cr({label:e,value:t,onCommit:n,hint:o}){let[s,r]=x(""),a=JSON.stringify(t,null,2),l=u=>{let f;try{f=JSON.parse(u)}catch(d){r(`Not in the file yet, for it is not JSON: ${d.message}`);return}r(""),n(f)};return i`<${le} label=${`${e} (JSON)`} value=${a} lines=${2} problem=${s} hint=${o} onCommit=${l} />`}function Ee({label:e,value:t,lines:n,onCommit:o,onRemove:s,hint:r}){return t!=null&&typeof t!="string"?i`<${Cr} label=${e} value=${t} onCommit=${o} hint=${r} />`:i`<${le} label=${e} value=${t??""} lines=${n} onCommit=${l=>l===""&&s?s():o(l)} hint=${r} />`}function pt({label:e,value:t,onCommit:n,onRemove:o,hint:s}){let[r,a]=x(""),l=u=>{let f=u.trim(),d=f!==""&&Number.isFinite(Number(f));a(d||f===""&&o?"":"Not in the file yet: a number is needed."),d?n(Number(f)):f===""&&o&&o()};return i`<${le} label=${e} value=${t==null?"":String(t)}
    problem=${r} hint=${s} onCommit=${l} />`}function en({data:e,known:t,where:n,change:o,noun:s}){let[r,a]=x(""),l=$e(),u=Object.keys(e).filter(m=>!t.includes(m)),f=r.trim(),d=async()=>{f&&!(f in e)&&await o("set",[...n,f],kr[f]??"")&&a("")};return i`
    ${u.map(m=>i`
      <div class="ed-other" key=${m}>
        <${Ee} label=${m} value=${e[m]??void 0} lines=${1}
          onCommit=${p=>o("set",[...n,m],p)} />
        <button onClick=${()=>o("remove",[...n,m])} aria-label=${`Remove ${m}`} title="Remove">×</button>
      </div>`)}
    <div class="ed-add">
      <label for=${l}>Further field of the ${s}</label>
      <input id=${l} value=${r} onInput=${m=>a(m.target.value)}
        onKeyDown=${m=>m.key==="Enter"&&d()} />
      <button onClick=${d} disabled=${!f||f in e}>Add field</button>
    </div>`}function To({noun:e,n:t,place:n,where:o,change:s,onPlace:r,blank:a,copyName:l,isReadOnly:u}){let f=async(m,p,c,h)=>{await s(m,[...o,p],c)&&r(h)},d=async()=>{if(!await s("copy",[...o,n]))return;let[m,p]=l(n);await s("set",[...o,n+1,m],p),r(n+1)};return u?null:i`
    <fieldset class="ed-tools" aria-label=${`Change the list of ${e==="criterion"?"criteria":"cases"}`}>
      <button onClick=${()=>f("insert",t?n:-1,a(),t?n+1:0)}>Add</button>
      <button disabled=${!t} onClick=${d}>Duplicate</button>
      <button disabled=${n<1} onClick=${()=>f("move",n,-1,n-1)} aria-label="Move up">↑</button>
      <button disabled=${n>=t-1} onClick=${()=>f("move",n,1,n+1)} aria-label="Move down">↓</button>
      <button disabled=${!t} onClick=${()=>f("remove",n,null,Math.max(0,Math.min(n,t-2)))}>Delete</button>
    </fieldset>`}function Po({label:e,items:t,place:n,onPlace:o}){let s=j(null);return i`
    <ul class="ed-items" ref=${s} aria-label=${e} onKeyDown=${a=>{let l={ArrowDown:1,ArrowUp:-1}[a.key];if(!l)return;a.preventDefault();let u=[...s.current.querySelectorAll("button")],f=u[u.indexOf(document.activeElement)+l];f?.focus(),f?.click()}}>
      ${t.map(a=>i`
        <li key=${a.place}>
          <button aria-current=${a.place===n?"true":null} onClick=${()=>o(a.place)}>
            <strong><bdi>${a.name}</bdi></strong>
            ${a.tags?.map(l=>i`<span class="ed-tag"><bdi>${l}</bdi></span>`)}
            <span class="note" dir="auto">${a.words}</span>
          </button>
        </li>`)}
    </ul>`}function Oo(e){let t=typeof e=="string"?e:JSON.stringify(e)??"";return t.length>Co?`${t.slice(0,Co)}…`:t}function mt(e,t){for(let n=2;;n++)if(!t.includes(`${e}-${n}`))return`${e}-${n}`}function So(e){return Array.isArray(e)?e.filter(t=>typeof t=="string"):[]}function Lo({file:e,caseId:t,onCase:n,change:o,isReadOnly:s}){let[r,a]=x(""),[l,u]=x(null),f=$e(),d=e.cases_at,m=(d.length?e.data[d[0]]:e.data).map($=>$&&typeof $=="object"&&!Array.isArray($)?$:{}),p=($,y)=>Object.keys(e.aliases).find(E=>e.aliases[E]===y&&E in $&&!(y in $))??y,c=m.map($=>String($[p($,"id")]??"")),h=t===null?0:Math.max(0,c.indexOf(t)),g=Math.min(l&&c[l.place]===(l.id??c[l.place])?l.place:h,Math.max(0,m.length-1)),k=$=>{u({place:$}),n(c[$]??null)},w=$=>$[p($,"input")],_=r.trim().toLowerCase(),b=m.map(($,y)=>({place:y,name:c[y]||"(no id)",words:Oo(w($)),tags:So($.tags)})).filter($=>!_||`${$.name} ${$.words} ${$.tags.join(" ")}`.toLowerCase().includes(_)),C=m[g],L=[...d,g],O=$=>y=>o("set",[...L,$],y),R=$=>$ in C?()=>o("remove",[...L,$]):null,P=["tags",...["id","input","reference","context"].map($=>C?p(C,$):$)];return i`
    <div class="ed-list">
      <div class="ed-field">
        <label for=${f}>Find a case</label>
        <input id=${f} type="search" value=${r} onInput=${$=>a($.target.value)} />
      </div>
      <p class="note" role="status">${b.length===m.length?`${m.length} cases`:`${b.length} of ${m.length} cases`}${b.length>Zt?`, the first ${Zt} are listed`:""}</p>
      <${To} noun="case" n=${m.length} place=${g} where=${d} change=${o} isReadOnly=${s} onPlace=${$=>u({place:$})}
        blank=${()=>({id:mt("case",c),input:""})} copyName=${$=>["id",mt(c[$],c)]} />
      <${Po} label="Cases" items=${b.slice(0,Zt)} place=${g} onPlace=${k} />
    </div>
    ${C&&i`
      <fieldset class="ed-fields" disabled=${s} aria-label=${`Case ${c[g]}`} key=${`${g} of ${m.length}`}>
        <p class="note">Line ${e.lines[g]}</p>
        <${le} label="id" value=${c[g]} hint="Names results and stored judgments."
          onCommit=${async $=>{await o("set",[...L,p(C,"id")],$)&&(u({place:g}),n($))}} />
        <${Ee} label=${p(C,"input")} value=${w(C)} lines=${5} onCommit=${O(p(C,"input"))} />
        ${["reference","context"].map($=>i`
          <${Ee} key=${$} label=${p(C,$)} value=${C[p(C,$)]} lines=${3}
            onCommit=${O(p(C,$))} onRemove=${R(p(C,$))} />`)}
        <${le} label="tags" value=${So(C.tags).join(", ")} hint="Separated by commas."
          onCommit=${$=>O("tags")($.split(",").map(y=>y.trim()).filter(Boolean))} />
        <${en} data=${C} known=${P} where=${L} change=${o} noun="case" />
      </fieldset>`}`}var Sr=["name","question","scoring_guide","scale","weight","required","pass_value"];function Mo({data:e,change:t,isReadOnly:n}){let[o,s]=x(0),r=e.criteria.map(c=>c&&typeof c=="object"?c:{}),a=Math.min(o,Math.max(0,r.length-1)),l=r.map(c=>String(c.name??"")),u=r[a],f=["criteria",a],d=c=>h=>t("set",[...f,c],h),m=c=>c in u?()=>t("remove",[...f,c]):null,p=c=>h=>t("set",[c],h);return i`
    <div class="ed-list">
      <fieldset disabled=${n} aria-label="Rubric">
      <${le} label="Name of the rubric" value=${String(e.name??"")} onCommit=${p("name")} />
      <${pt} label="pass_threshold" value=${e.pass_threshold} hint="The least overall value that passes, 0 to 1."
        onCommit=${p("pass_threshold")} onRemove=${"pass_threshold"in e?()=>t("remove",["pass_threshold"]):null} />
      </fieldset>
      <${To} noun="criterion" n=${r.length} place=${a} where=${["criteria"]} change=${t} isReadOnly=${n} onPlace=${s}
        blank=${()=>({name:mt("criterion",l),question:""})} copyName=${c=>["name",mt(l[c],l)]} />
      <${Po} label="Criteria" items=${r.map((c,h)=>({place:h,name:l[h]||"(no name)",words:Oo(c.question??"")}))}
        place=${a} onPlace=${s} />
    </div>
    ${u&&i`
      <fieldset class="ed-fields" disabled=${n} aria-label=${`Criterion ${l[a]}`} key=${`${a} of ${r.length}`}>
        <${le} label="name" value=${l[a]} onCommit=${d("name")} />
        <${Ee} label="question" value=${u.question} lines=${3} onCommit=${d("question")} />
        <${Tr} scale=${u.scale} where=${[...f,"scale"]} change=${t} />
        <${Ee} label="scoring_guide" value=${u.scoring_guide} lines=${3} onCommit=${d("scoring_guide")} onRemove=${m("scoring_guide")} />
        <div class="ed-row">
          <${pt} label="weight" value=${u.weight} hint="Its share in the overall value; 1 if missing." onCommit=${d("weight")} onRemove=${m("weight")} />
          <${pt} label="pass_value" value=${u.pass_value} hint="The least value that passes, 0 to 1." onCommit=${d("pass_value")} onRemove=${m("pass_value")} />
          <${Er} label="required" value=${u.required===!0} onCommit=${d("required")} />
        </div>
        <${en} data=${u} known=${Sr} where=${f} change=${t} noun="criterion" />
      </fieldset>`}`}function Er({label:e,value:t,onCommit:n}){let[o,s]=Eo(t,n);return i`<label class="ed-check"><input type="checkbox" checked=${o}
    onChange=${r=>s(r.target.checked)} /> ${e}</label>`}function Tr({scale:e,where:t,change:n}){return Array.isArray(e)&&e.every(s=>s&&typeof s=="object"&&"value"in s)?i`
    <fieldset class="ed-levels">
      <legend>scale</legend>
      ${e.map((s,r)=>i`
        <div class="ed-level" key=${`${r} of ${e.length}`}>
          <${pt} label=${`Value ${r+1}`} value=${s.value} onCommit=${a=>n("set",[...t,r,"value"],a)} />
          <${le} label="Anchor" value=${String(s.description??"")} lines=${2} onCommit=${a=>n("set",[...t,r,"description"],a)} />
          <button aria-label=${`Remove level ${s.value}`} title="Remove" disabled=${e.length<3} onClick=${()=>n("remove",[...t,r])}>×</button>
        </div>`)}
      <button onClick=${()=>n("insert",[...t,e.length-1],{value:Pr(e),description:""})}>Add level</button>
    </fieldset>`:i`<${Ee} label="scale" value=${e} lines=${1} onCommit=${s=>n("set",t,s)}
      hint='The name of a scale, such as likert5; or JSON: a list of levels, each with a value and a description.' />`}function Pr(e){let t=e.map(o=>Number(o.value)).filter(Number.isFinite),n=t.at(-1)??0;return t.length>1&&t[0]>n?n-1:n+1}var Or=["name","dataset","rubric","profile","cases"];function Ao({data:e,profiles:t,change:n,isReadOnly:o}){let s=u=>f=>n("set",[u],f),r=u=>u in e?()=>n("remove",[u]):null,[a,l]=Eo(e.profile??"",u=>u?n("set",["profile"],u):n("remove",["profile"]));return i`
    <fieldset class="ed-fields" disabled=${o} aria-label="Suite">
      <${le} label="name" value=${String(e.name??"")} onCommit=${s("name")} />
      ${["dataset","rubric"].map(u=>i`
        <${Ee} key=${u} label=${u} value=${e[u]} lines=${1} onCommit=${s(u)} onRemove=${r(u)} />`)}
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
      <${en} data=${e} known=${Or} where=${[]} change=${n} noun="suite" />
    </fieldset>`}var Lr=600,$t="\0typed",jo=new Set(["suite","rubric","cases","template","partial","outputs"]);function Io({path:e,file:t,listing:n,caseId:o,onCase:s,isReadOnly:r}){let a=n.files.filter(y=>y.kind==="suite").map(y=>y.path),[l,u]=x(a.includes(e)?e:a[0]),[f,d]=x(null),[m,p]=x(""),[c,h]=x(""),[g,k]=x(null),[w,_]=x(""),b=j(0),C=f===$t,L={case_id:o,variant:C?null:f,output:C?m:null,model:c.trim()||null},O={path:e,text:t.text,suite:l,settings:L},R=JSON.stringify(O),P=async y=>{try{let E=await te("/api/edit/preview",O);if(y!==b.current)return;E.error||k({...E,key:R}),_(E.error??"")}catch(E){if(y!==b.current)return;_(E.message)}};if(A(()=>{let y=++b.current;if(!l||!jo.has(t.kind))return;let E=setTimeout(()=>P(y),g||w?Lr:0);return()=>clearTimeout(E)},[R,t.kind]),!jo.has(t.kind))return null;if(!l)return i`<aside class="ed-preview" aria-label="Preview"><h2>Preview</h2>
      <p class="note">Prompts are shown with a suite, which names the judge: there is none in this folder. <code>judgekit init</code> makes one.</p></aside>`;let $=g?.key===R;return i`
    <aside class="ed-preview" aria-label="Preview" aria-busy=${!$&&!w}>
      <h2>What the judge reads</h2>
      <div class="ed-choices">
        ${a.length>1&&i`<${tn} label="Suite" value=${l} options=${a} onChoose=${u} />`}
        ${g&&i`
          <${tn} label="Case" value=${g.case_id} options=${g.cases} onChoose=${s} />
          <${tn} label="Output" value=${f??g.variant??$t} onChoose=${d}
            options=${[...g.variants,$t]} names=${{[$t]:"typed here"}} />
          <${Mr} judges=${g.judges} model=${c} onModel=${h} />`}
      </div>
      ${C&&i`<${Ar} text=${m} onText=${p} />`}
      ${w&&i`<p class="ed-narrow">No preview: <bdi>${w}</bdi></p>`}
      ${g&&!w&&i`
        ${g.notes.map(y=>i`<p class="note">${y}</p>`)}
        <${Ir} body=${O} preview=${g} isCurrent=${$&&!w} isReadOnly=${r} />
        ${!C&&g.variant&&i`<details><summary>Output of ${g.variant}</summary><pre dir="auto">${g.output}</pre></details>`}
        ${g.requests.map((y,E)=>i`<${jr} key=${E} request=${y} isOpen=${E===0} />`)}`}
    </aside>`}function tn({label:e,value:t,options:n,names:o={},onChoose:s}){let r=$e();return i`<div class="ed-field">
    <label for=${r}>${e}</label>
    <select id=${r} value=${t} onChange=${a=>s(a.target.value)}>
      ${n.map(a=>i`<option key=${a} value=${a} selected=${a===t}>${o[a]??a}</option>`)}
    </select></div>`}function Mr({judges:e,model:t,onModel:n}){let o=$e();return i`<div class="ed-field">
    <label for=${o}>Model</label>
    <input id=${o} value=${t} placeholder=${e.join(", ")||"none"} onChange=${s=>n(s.target.value)} />
  </div>`}function Ar({text:e,onText:t}){let n=$e();return i`<div class="ed-field">
    <label for=${n}>Output to judge</label>
    <textarea id=${n} rows="4" value=${e} onInput=${o=>t(o.target.value)} />
  </div>`}function jr({request:e,isOpen:t}){let n=e.repeat?`, repeat ${e.repeat+1}`:"";return i`
    <details open=${t}>
      <summary><strong>${e.criterion??"all criteria"}</strong>${n}: ${e.tokens}, ${e.price}</summary>
      <p class="note">${e.judge}; tokens counted by ${e.token_source}</p>
      ${e.messages.map(o=>i`
        <h3>${o.role}</h3>
        <pre class="ed-prompt" dir="auto">${o.content}</pre>`)}
    </details>`}function Ir({body:e,preview:t,isCurrent:n,isReadOnly:o}){let[s,r]=x("ready"),[a,l]=x(null),[u,f]=x("");A(()=>{r("ready"),l(null),f("")},[t.calls_key]);let d=async()=>{r("running"),f("");try{let c=await te("/api/edit/preview",{...e,calls_key:t.calls_key});c.error?f(c.error):l(c)}catch(c){f(c.message)}r("ready")},m=j(null);A(()=>{s==="confirm"&&m.current.focus()},[s]);let p=t.n_calls===0||t.price.includes("not recorded");return o?i`<p><strong>${t.price}</strong></p>`:i`
    <div class="ed-trial">
      <p><strong>${t.price}</strong></p>
      ${t.refusal&&i`<p class="note">${t.refusal}</p>`}
      <p><button disabled=${!!t.refusal||!n||s==="running"} aria-expanded=${p?null:String(s==="confirm")}
        onClick=${()=>p?d():r("confirm")}>${s==="running"?"Judging …":p?"Try: free":"Try …"}</button></p>
      ${s==="confirm"&&i`
        <div class="ed-price" role="group" aria-label="Confirm the price" tabindex="-1" ref=${m}>
          <p>This makes ${t.price}.</p>
          <button class="ed-confirm" onClick=${d}>Confirm and judge</button>${" "}
          <button onClick=${()=>r("ready")}>Cancel</button>
        </div>`}
      <div role="status">${u&&i`<p class="error">${u}</p>`}${a&&i`<${Dr} result=${a} />`}</div>
    </div>`}function Dr({result:e}){return i`
    <p class=${`conclusion ${e.tone}`}>${e.conclusion}</p>
    ${e.notes.map(t=>i`<p class="error">${t}</p>`)}
    ${e.judgments.map(t=>i`
      <section class="ed-judgment">
        <h3>${t.criterion}: ${t.raw} <span class="note">value ${st(t.value)}, ${t.cached?"cached":t.cost_usd===null?"price unknown":`$${t.cost_usd?t.cost_usd.toPrecision(2):0}`}${t.confidence===null?"":`, confidence ${t.confidence}`}</span></h3>
        <p class="note">${t.judge}</p>
        <p dir="auto">${t.rationale}</p>
        ${t.evidence.map(n=>i`<blockquote dir="auto">${n.quote}${!n.match&&i` <span class="fail">! not in the output</span>`}</blockquote>`)}
      </section>`)}`}var Do=3,Nr=40,No=300;function Ro({dialog:e,path:t,file:n,onSave:o,onSettle:s,onClose:r}){let a=j(null);A(()=>{a.current.showModal()},[]);let l=n.problems.filter(d=>d.severity==="error"&&d.path===t).length,u=e.kind==="conflict",f=u?e.disk.text:n.saved;return i`
    <dialog class="ed-dialog" ref=${a} onClose=${r} aria-labelledby="ed-dialog-title">
      <h2 id="ed-dialog-title">${u?"Changed on disk":`Changes to ${t}`}</h2>
      ${e.message&&i`<p class="error" role="alert">${e.message}</p>`}
      ${u?i`<p>Below: what is on disk now (−), and what you have here (+).</p>`:l>0&&i`<p class="fail">✗ With ${l} ${l===1?"error":"errors"} it cannot be used until ${l===1?"it is":"they are"} corrected.</p>`}
      <${Rr} before=${f} after=${n.text} />
      <div class="ed-buttons">
        ${u?i`
              <button onClick=${()=>s(e.disk,!0)}>Keep mine, and look at the changes again</button>
              <button onClick=${()=>s(e.disk,!1)}>Discard mine, take the file on disk</button>`:i`<button class="ed-save" autofocus onClick=${o}>${l?`Save with ${l} ${l===1?"error":"errors"}`:"Save"} <kbd>Ctrl+S</kbd></button>`}
        <button onClick=${()=>a.current.close()}>Cancel</button>
      </div>
    </dialog>`}function Rr({before:e,after:t}){let n=Ke(e,t,{timeout:No});if(!n)return i`<p class="note">The texts have too little in common to be compared line by line.</p>`;let o=[];return n.forEach((s,r)=>{let a=s.value.replace(/\n$/,"").split(`
`);if(!s.added&&!s.removed){o.push(...Wr(a,r===0,r===n.length-1));return}let l=s.removed?n[r+1]:n[r-1],f=l&&(s.removed?l.added:l.removed)&&l.count===s.count&&s.count<=Nr?l.value.replace(/\n$/,"").split(`
`):[];a.forEach((d,m)=>o.push({sign:s.removed?"−":"+",line:d,other:f[m]}))}),i`
    <div class="ed-diff" tabindex="0" role="region" aria-label="Changed lines">
      ${o.map(s=>{if(s.folded)return i`<div class="ed-fold">${s.folded} unchanged lines</div>`;if(!s.sign)return i`<div><span>  </span>${s.line}</div>`;let r=s.sign==="+"?"ins":"del";return i`<${r} class="ed-line"><span class="hidden">${s.sign==="+"?"added: ":"removed: "}</span><span aria-hidden="true">${s.sign} </span><${qr} row=${s} /></${r}>`})}
    </div>`}function Wr(e,t,n){let o=t?0:Do,s=n?0:Do;return e.length<=o+s+1?e.map(r=>({line:r})):[...e.slice(0,o).map(r=>({line:r})),{folded:e.length-o-s},...s?e.slice(-s).map(r=>({line:r})):[]]}function qr({row:e}){let t=e.sign==="+",n=e.other===void 0?null:ut(t?e.other:e.line,t?e.line:e.other,{timeout:No});return n?n.filter(o=>t?!o.removed:!o.added).map(o=>o.added||o.removed?i`<mark>${o.value}</mark>`:o.value):e.line}var Fr=300,Br="/edit",Fo="(max-width: 44rem)",Hr=/^\/edit\/(.+)$/;function Bo(){let e=Hr.exec(location.pathname),t=document.getElementById("main");if(!e||!Xt()||!t)return;let n=document.createElement("div"),o=e[1].split("/").map(decodeURIComponent).join("/");for(;t.querySelector("h1").nextSibling;)t.querySelector("h1").nextSibling.remove();t.append(n),document.querySelector(".skip").textContent="Skip to the editor",ee(i`<${Ur} path=${o} />`,n)}function ht(){return new URLSearchParams(location.hash.slice(1))}function Wo(e){let t=ht();for(let[n,o]of Object.entries(e))o===null?t.delete(n):t.set(n,o);history.replaceState(null,"",`#${t}`)}function Ur({path:e}){let[t,n]=x(null),[o,s]=x(""),r=()=>te("/api/edit/files",{}).then(n,u=>s(u.message));A(()=>{r()},[]);let a=ie(Fo);if(o)return i`<p class="error" role="alert">${o}</p>`;let l=i`<${Jr} listing=${t} path=${e} />`;return i`
    <div class="editor">
      <nav class="ed-files" aria-label="Files" aria-busy=${!t}>
        ${a?i`<details><summary>Files of ${t?.folder}</summary>${l}</details>`:l}
      </nav>
      <div class="ed-work"><${zr} path=${e} listing=${t} onSaved=${r} /></div>
    </div>`}function Kr({files:e}){let t=e.find(n=>n.command);return t&&i`<p class="note">To run it: <code>${t.command}</code></p>`}function Jr({listing:e,path:t}){return e?i`
    <p class="ed-folder"><a href=${Br}>${e.folder}</a></p>
    <ul>
      ${e.files.map(n=>i`
        <li key=${n.path}>
          <a href=${Ho(n.path)} aria-current=${n.path===t?"page":null}><bdi>${n.path}</bdi></a>
          <span class="note">${n.kind} <${Vr} file=${n} /></span>
        </li>`)}
    </ul>
    <${Kr} files=${e.files} />`:i`<p class="note">Reading the folder …</p>`}function Vr({file:e}){let t=[];return e.n_errors&&t.push(i`<span class="fail">✗ ${qo(e.n_errors,"error")}</span>`),e.n_warnings&&t.push(i`<span class="inconclusive">! ${qo(e.n_warnings,"warning")}</span>`),t}function qo(e,t){return`${e} ${t}${e===1?"":"s"}`}function Ho(e){return`/edit/${e.split("/").map(encodeURIComponent).join("/")}`}function zr({path:e,listing:t,onSaved:n}){let[o,s]=x(null),r=j(null),[a,l]=x(""),[u,f]=x(ht().get("view")),[d,m]=x(ht().get("case")),[p,c]=x(null),[h,g]=x(""),[k,w]=x(null),_=j({timer:0,number:0}),b=j(Promise.resolve()),C=j(null),L=ie(Fo),O=M=>s(r.current={...r.current,...M}),R=async()=>{try{let M=await te("/api/edit/open",{path:e});O({...M,saved:M.text});let B=Number(ht().get("line"));B&&S(B)}catch(M){l(M.message)}};A(()=>{R()},[e]);let P=!!(o&&o.text!==o.saved);A(()=>{if(document.title=`${P?"* ":""}Edit ${e}`,!P)return;let M=B=>B.preventDefault();return addEventListener("beforeunload",M),()=>removeEventListener("beforeunload",M)},[P]);let $=async()=>{let M=++_.current.number,{text:B}=r.current;try{let se=await te("/api/edit/check",{path:e,text:B});M===_.current.number&&B===r.current.text&&O(se),l("")}catch(se){l(se.message)}},y=M=>{g(""),O({text:M}),clearTimeout(_.current.timer),_.current.timer=setTimeout($,Fr)},E=(M,B,se=null)=>{let _e=b.current.then(async()=>{let z,T;do z=r.current.text,T=await te("/api/edit/change",{path:e,text:z,kind:M,where:B,value:se});while(z!==r.current.text);_.current.number++,O(T),l(""),g("")});return b.current=_e.catch(z=>l(z.message)),_e.then(()=>!0,()=>!1)},D=M=>{f(M),Wo({view:M})},N=M=>{m(M),Wo({case:M})},S=M=>{D("text"),w({line:M})},v=!!o&&!o.is_recorded&&!L,W=async()=>{v&&(C.current=document.activeElement,C.current?.blur(),clearTimeout(_.current.timer),await b.current,await $(),r.current.text===r.current.saved?g("There are no changes to save."):c({kind:"save"}))},ne=()=>{c(null),C.current?.focus()},ce=async()=>{let{text:M,version:B,problems:se}=r.current,_e=se.some(z=>z.severity==="error");try{let z=await te("/api/edit/save",{path:e,text:M,version:B,allow_errors:_e});O({saved:M,version:z.version}),ne(),g("Saved."),n()}catch(z){z instanceof Se&&z.status===409?c({kind:"conflict",disk:z.reply,message:z.message}):c({kind:"save",message:z.message})}},Ve=(M,B)=>{O({saved:M.text,version:M.version}),ne(),B||O({text:M.text}),$()};if(A(()=>{let M=B=>{!(B.ctrlKey||B.metaKey)||B.key.toLowerCase()!=="s"||(B.preventDefault(),p?.kind==="save"?ce():p||W())};return addEventListener("keydown",M),()=>removeEventListener("keydown",M)}),!o)return a?i`<p class="error" role="alert">${a}</p>`:i`<p class="note" aria-busy="true">Opening …</p>`;let ue=o.is_recorded||L,de=Gr(o),fe=de.some(M=>M.name===u)?u:de[0].name,ze=o.problems.filter(M=>M.path===e);return i`
    <div class="ed-bar">
      <div role="group" aria-label="View" class="ed-views">
        ${de.map(M=>i`<button aria-pressed=${String(M.name===fe)} onClick=${()=>D(M.name)}>${M.label}</button>`)}
      </div>
      <span class="ed-state" role="status">${h||(P?"Not saved":"")}</span>
      ${v&&i`<button class="ed-save" disabled=${!P} onClick=${W}>Save … <kbd>Ctrl+S</kbd></button>`}
    </div>
    ${L&&i`<p class="ed-narrow">This window is too narrow for editing: files can be read here, and edited in a wider one.</p>`}
    ${o.is_recorded&&i`<p class="ed-narrow">This file holds recorded ${o.kind==="recorded replies"?"replies":"results"}: it can be read, but not edited.</p>`}
    ${a&&i`<p class="error" role="alert">${a}</p>`}
    <${Qr} file=${o} path=${e} onJump=${S} />
    <div class="ed-panes">
      <div class="ed-pane">
        ${fe==="text"?i`<${xo} path=${e} text=${o.text} problems=${ze} isReadOnly=${ue} target=${k} onInput=${y} />`:i`<div class="ed-form">
              ${fe==="cases"&&i`<${Lo} file=${o} caseId=${d} onCase=${N} change=${E} isReadOnly=${ue} />`}
              ${fe==="rubric"&&i`<${Mo} data=${o.data} change=${E} isReadOnly=${ue} />`}
              ${fe==="suite"&&i`<${Ao} data=${o.data} profiles=${o.profiles} change=${E} isReadOnly=${ue} />`}
            </div>`}
      </div>
      ${t&&i`<${Io} path=${e} file=${o} listing=${t} caseId=${d} onCase=${N} isReadOnly=${L} />`}
    </div>
    ${p&&i`<${Ro} dialog=${p} path=${e} file=${o}
      onSave=${ce} onSettle=${Ve} onClose=${ne} />`}
  `}function Gr(e){let t=[];return e.form==="rubric"&&Array.isArray(e.data?.criteria)&&t.push({name:"rubric",label:"Criteria"}),e.form==="suite"&&t.push({name:"suite",label:"Suite"}),e.cases_at&&t.push({name:"cases",label:"Cases"}),[...t,{name:"text",label:"Text"}]}var Yr={error:"✗",warning:"!"};function Qr({file:e,path:t,onJump:n}){let o=j(null);Q(()=>{o.current.textContent!==e.summary&&(o.current.textContent=e.summary)},[e.summary]);let s=e.problems.some(r=>r.severity==="error")?"fail":e.problems.length?"inconclusive":"pass";return i`
    <section class=${`ed-problems ${s}`} aria-label="Problems">
      <p><span>${e.kind}: </span><strong role="status" ref=${o}></strong></p>
      ${e.problems.length>0&&i`
        <ul>
          ${e.problems.map(r=>i`
            <li>
              <span class=${r.severity==="error"?"fail":"inconclusive"}>${Yr[r.severity]} ${r.severity}</span>${" "}
              <${Xr} problem=${r} path=${t} onJump=${n} />${" "}
              <bdi>${r.message}</bdi>${r.remedy&&i` <span class="note">(${r.remedy})</span>`}
              ${r.rule&&i` <code>${r.rule}</code>`}
            </li>`)}
        </ul>`}
    </section>`}function Xr({problem:e,path:t,onJump:n}){let o=e.line===null?"":`line ${e.line}`;if(e.path===t)return o&&i`<button class="ed-link" onClick=${()=>n(e.line)}>${o}</button>`;if(!e.path)return null;let s=e.line===null?"":`#view=text&line=${e.line}`;return i`<a href=${Ho(e.path)+s}><bdi>${e.path}</bdi> ${o}</a>`}var gt=2;function Zr([e,t]){return`/diff?a=${encodeURIComponent(e)}&b=${encodeURIComponent(t)}`}function ea({boxes:e}){let[t,n]=x([]);for(let s of e)s.checked=t.includes(s.value),s.onchange=()=>{let r=t.filter(a=>a!==s.value);n(s.checked?[...r.slice(1-gt),s.value]:r)};let o=gt-t.length;return i`
    <div class="chosen">
      ${o===0?i`<a class="button" href=${Zr(t)}>Side by side</a>`:i`<button type="button" disabled>Side by side</button>`}
      ${t.length>0&&i`
        <button type="button" onClick=${()=>n([])}>Clear</button>`}
      <span role="status">${o===gt?"Tick two rows to see them side by side.":o?`${t[0]}; tick one more row.`:`${t[0]} and ${t[1]}`}</span>
    </div>
  `}function Uo(){let e=[...document.querySelectorAll("[data-choice]")];if(e.length<gt)return;let t=e.map(o=>{let s=document.createElement("input");s.type="checkbox",s.value=o.dataset.choice,s.setAttribute("aria-label",`Side by side: ${o.dataset.choice}`);let r=document.createElement("label");return r.className="tick",r.append(s),o.prepend(r),s}),n=document.createElement("div");e[0].closest(".wide").before(n),ee(i`<${ea} boxes=${t} />`,n)}function ta({address:e,lines:t}){let[n,o]=x(null),[s,r]=x("");if(A(()=>{let l=new EventSource(e);return l.addEventListener("progress",u=>{let f=JSON.parse(u.data);o(f),r(""),f.lines.forEach((d,m)=>{t[m]&&(t[m].textContent=d)})}),l.addEventListener("end",()=>{l.close(),location.reload()}),l.addEventListener("problem",u=>{l.close(),r(JSON.parse(u.data).text)}),l.onerror=()=>r("judgekit view does not answer. Is it still running?"),()=>l.close()},[e]),!n)return i`<p class="note">${s||"Loading the progress …"}</p>`;let a=n.total?Math.min(1,n.done/n.total):null;return i`
    <div class="live">
      <progress aria-label="Progress of the run" max=${n.total??void 0}
        value=${a===null?void 0:Math.min(n.done,n.total)}></progress>
      <span class="live-text">${n.lines[0]}</span>
    </div>
    <p class="hidden" role="status">${na(n,a)}</p>
    ${n.hint&&i`<p class="note">${n.hint}</p>`}
    ${s&&i`<p class="note" role="alert">${s}</p>`}
  `}function na(e,t){return t===null?"":`${Math.floor(t*10)*10} % of ${e.total}`}function Ko(){let e=document.getElementById("live");if(!e)return;let t=document.querySelectorAll("main > dl dd");ee(i`<${ta} address=${e.dataset.events} lines=${t} />`,e)}function Te(e){return{annotator:e,answers:{},flags:{},seconds:{},saved:null,changed:null}}function ae(e,t,n){return e.answers[t.id]?.[n]??null}function Ie(e){return e!=null&&(e.cannot||e.choice!=null)}var Pe=e=>e.name??"";function oe(e,t,n,o){let s=ae(t,n,Pe(e.criteria[o]));return Ie(s)?e.reason&&!s.cannot&&!s.comment.trim():!0}function _t(e,t,n){return n.criteria.every(o=>!oe(e,t,n,o))}var Jo=(e,t)=>(t?.at??"")>(e?.at??"")?t:e;function De(e,t){let n={...e,answers:{...e.answers},flags:{...e.flags},seconds:{...e.seconds}};for(let[s,r]of Object.entries(t.answers)){let a={...n.answers[s]};for(let[l,u]of Object.entries(r))a[l]=Jo(a[l],u);n.answers[s]=a}for(let[s,r]of Object.entries(t.flags))n.flags[s]=Jo(n.flags[s],r);for(let[s,r]of Object.entries(t.seconds))n.seconds[s]=Math.max(n.seconds[s]??0,r);let o=s=>[e[s],t[s]].filter(Boolean).sort().at(-1)??null;return{...n,saved:o("saved"),changed:o("changed")}}function oa(e){let t=2166136261;for(let n of e)t=Math.imul(t^n.codePointAt(0),16777619);return t=Math.imul(t^t>>>15,2246822507),(t^t>>>13)>>>0}var Vo=10;function nn(e,t){let n=s=>oa(`${e.packet} ${t} ${s.id}`),o=e.items.filter(s=>!s.again);o.sort((s,r)=>s.part-r.part||n(s)-n(r)||(s.id<r.id?-1:1));for(let s of e.items.filter(r=>r.again)){let r=o.findIndex(a=>a.id===s.again);o.splice(Math.min(o.length,r+Vo+n(s)%Vo),0,s)}return o}function zo(e,t,n){return n.flatMap((o,s)=>{let r=o.criteria.map(u=>Pe(e.criteria[u])),a=r.filter(u=>Ie(ae(t,o,u))||ae(t,o,u)?.comment.trim());return(a.length||!t.flags[o.id]?.on?a:r.slice(0,1)).map(u=>on(e,t,o,u,s+1))})}function on(e,t,n,o,s){let r=ae(t,n,o),a={packet:e.packet,position:s,labelled_at:r?.at??new Date().toISOString()};t.seconds[n.id]&&(a.seconds=Math.round(t.seconds[n.id])),r?.cannot&&(a.cannot_judge=!0),t.flags[n.id]?.on&&(a.flagged=!0);let l={case_id:n.id};return o!==""&&(l.criterion=o),l.annotator=t.annotator,r&&!r.cannot&&r.choice!=null&&(l[e.pairs?"winner":"raw"]=r.choice),r?.comment.trim()&&(l.rationale=r.comment.trim()),l.metadata=a,l}function sn(e,t){let n=new Map(e.items.map(r=>[r.id,r])),o=new Set(t.map(r=>r.annotator));if(o.size>1)throw new Error("This file has the answers of several people. Open a file of one person.");let s=Te(String([...o][0]??""));for(let r of t){let a=r.metadata??{},l=n.get(r.case_id);if(a.packet!==e.packet||!l)throw new Error("This file belongs to another labelling page, so that its answers do not fit here.");let f={choice:r.raw??r.winner??null,cannot:a.cannot_judge===!0,comment:String(r.rationale??""),at:String(a.labelled_at??"")};s.answers[l.id]={...s.answers[l.id],[r.criterion??""]:f},a.flagged&&(s.flags[l.id]={on:!0,at:f.at}),a.seconds&&(s.seconds[l.id]=a.seconds),f.at>(s.changed??"")&&(s.changed=f.at)}return s}function Go(e,t){let n=t.split(`
`).map(s=>s.trim()).filter(Boolean),o;try{o=n.map(s=>JSON.parse(s))}catch{throw new Error("This is not a file that this page has saved: it cannot be read.")}if(!o.length||o.some(s=>s===null||typeof s!="object"))throw new Error("This file has no answers.");return sn(e,o)}var rn=(e,t)=>`judgekit-label ${e.packet} ${t}`,Yo=e=>`judgekit-label-name ${e.packet}`;function bt(e,t){try{let n=localStorage.getItem(rn(e,t));return n?De(Te(t),JSON.parse(n)):null}catch{return null}}function Qo(e){try{return localStorage.getItem(Yo(e))??""}catch{return""}}function Ne(e,t){let n=De(t,bt(e,t.annotator)??Te(t.annotator));try{return localStorage.setItem(rn(e,t.annotator),JSON.stringify(n)),localStorage.setItem(Yo(e),t.annotator),!0}catch{return!1}}function Xo(e,t,n){return n===rn(e,t)}function Zo(e,t){let n=t.map(r=>`${JSON.stringify(r)}
`).join(""),o=URL.createObjectURL(new Blob([n],{type:"application/jsonl"})),s=document.createElement("a");s.href=o,s.download=e,document.body.append(s),s.click(),s.remove(),setTimeout(()=>URL.revokeObjectURL(o),1e3)}function es(e){return`labels-${e.normalize("NFKD").replace(/[^\p{L}\p{N}]+/gu,"-").replace(/^-+|-+$/g,"").toLowerCase()||"annotator"}.jsonl`}var sa="judgekit-label/1",ra=12e4,aa=5,ia=5;function os(){let e=document.getElementById("label-data"),t=document.getElementById("label");if(!e||!t)return;let n=JSON.parse(e.textContent);if(n.format!==sa)return;let o=[...t.querySelectorAll("#label-task > p")].map(r=>r.textContent),s=t.dataset.answers??null;t.replaceChildren(),ee(i`<${fa} task=${n} intro=${o} store=${s} />`,t)}var la=e=>[...e].sort((t,n)=>t-n)[Math.floor(e.length/2)],ca=e=>new Date(e).toLocaleTimeString([],{hour:"2-digit",minute:"2-digit"}),yt=(e,t,n=`${t}s`)=>`${e.toLocaleString("en")} ${e===1?t:n}`,ua=e=>e.closest?.("input:not([type=checkbox]), textarea, select")!=null,da=e=>e.closest?.("button, a, summary, label, input")!=null;function fa({task:e,intro:t,store:n}){let[o,s]=x("start"),[r,a]=x(null),[l,u]=x(""),[f,d]=x(!1),[m,p]=x(0),c=j({n:0,last:Promise.resolve()}),h=j(null);h.current=r;function g(P,$){let y={...P,changed:new Date().toISOString()};h.current=y,a(y),d(!Ne(e,y)),n&&$&&k(y,$)}function k(P,$){let y=c.current;p(y.n+=1),y.last=y.last.then(()=>w(P,$)).finally(()=>p(y.n-=1))}async function w(P,{item:$,name:y,position:E}){try{await te(n,{annotator:P.annotator,labels:[on(e,P,$,y,E)]});let D={...h.current,saved:new Date().toISOString()};h.current=D,a(D),u("")}catch(D){u(`The last answer is not stored: ${D.message} It is kept in this browser; choose it again to store it.`)}}async function _(P){let $=bt(e,P)??Te(P);if(n)try{let{labels:y}=await te(n,{annotator:P,labels:[]}),E={...sn(e,y),annotator:P};$=De($,E);for(let[D,N]of nn(e,P).entries())for(let S of N.criteria.map(v=>Pe(e.criteria[v]))){let[v,W]=[$,E].map(ne=>ae(ne,N,S)?.choice??null);v!==W&&!N.again&&k($,{item:N,name:S,position:D+1})}}catch(y){u(`The answers that are stored cannot be read: ${y.message}`);return}u(""),a($),d(!Ne(e,$)),s("items")}function b(P){try{let $=Go(e,P),y=De(bt(e,$.annotator)??Te($.annotator),$);if(u(""),n&&Ne(e,y))return void _($.annotator);a({...y,saved:y.saved??$.changed}),d(!Ne(e,y)),s("items")}catch($){u($.message)}}let C=J(()=>r?nn(e,r.annotator):[],[r?.annotator]);function L(){Zo(es(r.annotator),zo(e,r,C));let P={...h.current,saved:new Date().toISOString()};h.current=P,a(P),Ne(e,P)}A(()=>{let P=y=>{let E=h.current;(n?c.current.n>0:E?.changed&&E.changed>(E.saved??""))&&y.preventDefault()},$=y=>{let E=h.current;if(!E||!y.newValue||!Xo(e,E.annotator,y.key))return;let D=De(E,JSON.parse(y.newValue));h.current=D,a(D)};return addEventListener("beforeunload",P),addEventListener("storage",$),()=>{removeEventListener("beforeunload",P),removeEventListener("storage",$)}},[]);let O=f?i`<p class="banner fail" role="alert">! This browser does not keep your answers. Use “Save file” often, and before you close the page.</p>`:null,R=l&&i`<p class="banner fail" role="alert">! ${l}</p>`;return o==="practice"?i`<${ns} task=${ts(e)} items=${ts(e).items} work=${Te("practice")}
      isPractice leave=${()=>s("start")} />`:o==="start"?i`${R}<${pa} task=${e} intro=${t} isStored=${n!=null} begin=${_} resume=${b}
      practise=${()=>s("practice")} />`:i`${O}${R}<${ns} task=${e} items=${C} work=${r} change=${g} save=${L} isRefused=${f}
    isStored=${n!=null} isSending=${m>0} resume=${b} leave=${()=>s("start")} />`}function pa({task:e,intro:t,isStored:n,begin:o,resume:s,practise:r}){let[a,l]=x(Qo(e)),[u,f]=x("");function d(m){m.preventDefault();let p=a.trim().replace(/\s+/g," ");p?o(p):f("Type your name first.")}return i`
    <section aria-label="The task">
      ${t.map(m=>i`<p>${m}</p>`)}
      <p>${n?"Every answer is stored at once in the project from which this page is served.":"Your answers are kept in this browser only, and nothing is sent anywhere. Use “Save file” when you have finished, and send that file back."}</p>
    </section>
    <form class="start" onSubmit=${d} novalidate>
      <label for="annotator">Your name</label>
      <input id="annotator" autocomplete="name" maxlength="80" value=${a} aria-describedby="name-gap"
        onInput=${m=>l(m.currentTarget.value)} />
      <button class="main">Start</button>
      <button type="button" onClick=${r}>Try it first</button>
      <${ss} resume=${s} />
      <p id="name-gap" class="fail" role="alert">${u}</p>
    </form>
    <section aria-label="What is asked">
      ${e.criteria.map(m=>i`
        <section class="criterion"><h2>${m.name??"Preference"}</h2><${rs} criterion=${m} /></section>`)}
    </section>
    <${as} task=${e} />
  `}function ss({resume:e}){let t=j(null);async function n(o){let[s]=o.currentTarget.files;o.currentTarget.value="",s&&e(await s.text())}return i`<button type="button" onClick=${()=>t.current.click()}>Resume from file</button>
    <input type="file" hidden ref=${t} accept=".jsonl,.json,application/jsonl" aria-label="File of your answers" onChange=${n} />`}var vt=e=>e.levels.every((t,n)=>t.shown===String(n+1));function rs({criterion:e}){let t=e.levels?.filter(n=>n.name||n.about)??[];return i`
    <p class="foreign">${e.question}</p>
    ${e.guide&&i`<p class="foreign guide">${e.guide}</p>`}
    ${t.length>0&&i`<dl class="anchors">${t.map(n=>i`
      <dt>${vt(e)||!n.name?n.shown:n.name}</dt>
      <dd>${vt(e)&&n.name}${vt(e)&&n.name&&n.about?": ":""}${n.about}</dd>`)}</dl>`}
  `}function as({task:e,isOpen:t}){let o=[...e.pairs?[["1","the first is better"],["2","the second is better"],["3","they are equally good"],["0","cannot judge"]]:[["1 … 9","score, by the number on the button; the next criterion follows"],["0","cannot judge this criterion"]],["Enter","next item"],["← →","item before, item after"],["↑ ↓","criterion before, after"],["Backspace","undo the last answer"],["m","comment (Esc leaves it)"],["f","flag this item, to come back to it"],["?","these keys"]];return i`<details class="keys" open=${t}><summary>Keys</summary><dl>${o.map(([s,r])=>i`<dt><kbd>${s}</kbd></dt><dd>${r}</dd>`)}</dl></details>`}function ts(e){let t=s=>({text:s,steps:""}),o={id:"practice",part:0,again:"",outputs:e.pairs?[t("You can return it within 30 days, with the receipt."),t("Returns are possible.")]:[t("You can return it within 30 days, with the receipt.")],about:[{title:"Input",text:"I bought a lamp last week. Can I return it?"}],criteria:e.criteria.map((s,r)=>r)};return{...e,packet:"practice",items:[o]}}function ns({task:e,items:t,work:n,change:o,save:s,leave:r,resume:a,isPractice:l,isRefused:u,isStored:f,isSending:d}){let[m,p]=x(n),c=l?m:n,h=t.findIndex(T=>!_t(e,c,T)),[g,k]=x(h<0?t.length:h),[w,_]=x(0),[b,C]=x([]),[L,O]=x(""),[R,P]=x(!0),[$,y]=x(!1),[E,D]=x(0),N=j(null),S=j(null);Q(()=>{S.current&&N.current?.querySelector(S.current)?.focus(),S.current=null});let v=t[g]??null,W=t.filter(T=>_t(e,c,T)).length,ne=$a(v,l);function ce(T){let I=Math.max(0,Math.min(t.length,T));k(I);let V=t[I]?.criteria.findIndex(H=>oe(e,c,t[I],H))??0;_(Math.max(0,V)),y(!1),O(I===t.length?"End of the items.":`Item ${I+1} of ${t.length}.`),scrollTo(0,0)}function Ve(T,I,V=!1){let H=Pe(e.criteria[v.criteria[T]]),re=ae(c,v,H)??{choice:null,cannot:!1,comment:""},G={...re,...I,at:new Date().toISOString()},Y={...c,answers:{...c.answers,[v.id]:{...c.answers[v.id],[H]:G}},seconds:{...c.seconds,[v.id]:(c.seconds[v.id]??0)+ne.take()}};return"comment"in I||C([...b,{at:g,place:T,before:re}]),l?p(Y):o(Y,V||e.reason&&oe(e,Y,v,v.criteria[T])?null:{item:v,name:H,position:g+1}),Y}function ue(T,I,V){let H=Ve(T,{choice:I,cannot:I===null}),re=e.criteria[v.criteria[T]].name,G=v.criteria.findIndex(wt=>oe(e,H,v,wt)),Y=v.criteria.findIndex((wt,us)=>us>T&&oe(e,H,v,wt)),Ge=e.reason&&oe(e,H,v,v.criteria[T]),cs=Ge?T:Y<0?G<0?T:G:Y;_(cs),O(`${V}${re?` for ${re}`:""}. ${G<0?"Enter: next item.":""}`),Ge&&(S.current=`[data-place="${T}"] textarea`)}function de(){let T=v.criteria.findIndex(re=>oe(e,c,v,re));if(T<0){ce(g+1),u&&W%aa===0&&D(W);return}_(T);let I=e.criteria[v.criteria[T]].name,V=ae(c,v,I??"");O(Ie(V)?"A reason is missing.":`Not answered yet${I?`: ${I}`:""}.`);let H=e.pairs||e.criteria[v.criteria[T]].levels.length;S.current=`[data-place="${T}"] ${Ie(V)?"textarea":H?"h3":"input"}`}function fe(){let T=b.at(-1);if(!T){O("There is nothing to undo.");return}C(b.slice(0,-1));let I=t[T.at],V=Pe(e.criteria[I.criteria[T.place]]),H=ae(c,I,V),re={...T.before,comment:H?.comment??"",at:new Date().toISOString()},G={...c,answers:{...c.answers,[I.id]:{...c.answers[I.id],[V]:re}}};l?p(G):o(G,{item:I,name:V,position:T.at+1}),k(T.at),_(T.place),O("The last answer is undone.")}function ze(){let T=!c.flags[v.id]?.on,I={...c.flags,[v.id]:{on:T,at:new Date().toISOString()}};l?p({...c,flags:I}):o({...c,flags:I}),O(T?"Flagged.":"Flag removed.")}function M(T){if(T.ctrlKey||T.metaKey){T.key==="Enter"&&v&&(T.preventDefault(),de());return}if(T.altKey||!R||T.defaultPrevented)return;if(ua(T.target)){if(T.key==="Escape"){T.target.blur();let V=v?.criteria.findIndex(H=>oe(e,c,v,H))??-1;V>=0&&_(V)}return}let I={"?":()=>y(!$),ArrowLeft:()=>ce(g-1),Backspace:fe};if(v){let V=e.criteria[v.criteria[w]],H=e.pairs?is:V.levels??[];(e.pairs?H.map(({value:G,name:Y})=>[G,Y]):H.map(G=>[G.value,G.shown])).forEach(([G,Y],Ge)=>I[Ge+1]=()=>ue(w,G,Y)),!H.length&&/^[1-9.-]$/.test(T.key)&&N.current?.querySelector(`[data-place="${w}"] input`)?.focus(),I[0]=()=>ue(w,null,"Cannot judge"),I.ArrowRight=()=>ce(g+1),I.ArrowDown=()=>_(Math.min(v.criteria.length-1,w+1)),I.ArrowUp=()=>_(Math.max(0,w-1)),I.f=ze,I.m=()=>{let G=b.at(-1),Y=G?.at===g&&oe(e,c,v,v.criteria[w])?G.place:w;_(Y),S.current=`[data-place="${Y}"] textarea`,O("Comment.")},da(T.target)||(I.Enter=de)}I[T.key]&&(T.preventDefault(),I[T.key]())}let B=j(null);B.current=M,A(()=>{let T=I=>B.current(I);return document.addEventListener("keydown",T),()=>document.removeEventListener("keydown",T)},[]);let se=i`<${ha} task=${e} items=${t} work=${c} nDone=${W} at=${g} isPractice=${l}
    isRefused=${u} isStored=${f} isSending=${d} save=${s} leave=${r} resume=${a} />`,_e=E>0&&u?i`<p class="banner fail" role="alert">! ${yt(E,"item")} done, and this browser does not keep them.
        <button onClick=${()=>{s(),D(0)}}>Save file</button></p>`:null,z=i`<p class="hidden" role="status" aria-live="polite">${L}</p>`;return v?i`
    ${se}${_e}${z}
    ${$&&i`<${va} task=${e} hasKeys=${R} setHasKeys=${P} close=${()=>y(!1)} />`}
    <div class=${e.pairs?"item pair":"item"}>
      <${ga} task=${e} item=${v} at=${g} />
      <div class="panel" ref=${N} onClick=${ma}>
        ${v.criteria.map((T,I)=>i`
          <${_a} key=${`${v.id} ${T}`} task=${e} criterion=${e.criteria[T]} place=${I} isActive=${I===w}
            isGap=${oe(e,c,v,T)} answer=${ae(c,v,Pe(e.criteria[T]))}
            activate=${()=>_(I)} choose=${ue} comment=${(V,H)=>Ve(I,{comment:V},H)} next=${de} />`)}
        <div class="moves">
          <button onClick=${()=>ce(g-1)} disabled=${g===0}>← Back</button>
          <button aria-pressed=${!!c.flags[v.id]?.on} onClick=${ze}>⚑ Flag</button>
          <button onClick=${fe} disabled=${!b.length}>Undo</button>
          <button class="main" onClick=${de}>Next item</button>
        </div>
        <button class="plain" aria-expanded=${$} onClick=${()=>y(!$)}>? Keys</button>
      </div>
    </div>`:i`${se}${_e}${z}<${ya} task=${e} items=${t} work=${c} go=${ce} save=${s} leave=${r}
      isPractice=${l} isStored=${f} />`}function ma(e){e.detail&&e.target.closest("button")?.blur()}function $a(e,t){let n=j({last:0,total:0}),o=()=>{let s=performance.now(),r=s-n.current.last;n.current.last&&r<=ra&&!document.hidden&&(n.current.total+=r/1e3),n.current.last=s};return A(()=>{if(t)return;n.current={last:performance.now(),total:0};let s=["keydown","pointerdown","pointermove","wheel"];for(let r of s)addEventListener(r,o,{passive:!0});return()=>s.forEach(r=>removeEventListener(r,o))},[e?.id]),{take(){o();let{total:s}=n.current;return n.current.total=0,s}}}function ha({task:e,items:t,work:n,nDone:o,at:s,isPractice:r,isRefused:a,isStored:l,isSending:u,save:f,leave:d,resume:m}){if(r)return i`<header class="status"><p><strong>Practice</strong> Nothing that you do here is kept.</p>
      <button class="main" onClick=${d}>Back to the start</button></header>`;let p=Object.values(n.seconds).filter(w=>w>0),c=p.length<ia?e.seconds:la(p),h=Math.ceil((t.length-o)*c/60),g=l?"stored":a?"not kept":"kept in this browser",k=u?"storing …":n.changed?a?g:`${g} at ${ca(l?n.saved??n.changed:n.changed)}`:"";return i`
    <header class="status">
      <p><bdi><strong>${n.annotator}</strong></bdi>
        <span>${s<t.length?`item ${s+1} of ${t.length}`:`${t.length} items`}, ${o} done</span>
        ${k&&i`<span>${k}</span>`}
        ${o<t.length&&i`<span>about ${yt(h,"minute")} left</span>`}</p>
      <progress max=${t.length} value=${o} aria-label="Items done"></progress>
      <span class="tools"><button onClick=${f}>Save file</button><${ss} resume=${m} />
        <button class="plain" onClick=${d}>Task</button></span>
    </header>`}function ga({task:e,item:t,at:n}){let o=j(null);Q(()=>{document.activeElement===document.body&&o.current?.focus({preventScroll:!0})},[t.id]);let s=e.pairs?["FIRST","SECOND"]:["Output"];return i`
    <div class="texts">
      <h2 ref=${o} tabindex="-1">Item ${n+1}</h2>
      ${t.about.map(({title:r,text:a})=>i`<section><h3>${r}</h3><${an} text=${a} /></section>`)}
      <div class="outputs">
        ${t.outputs.map((r,a)=>i`
          <section class="output"><h3>${s[a]}</h3>
            ${r.steps&&i`<details><summary>Steps</summary><${an} text=${r.steps} /></details>`}
            <${an} text=${r.text} /></section>`)}
      </div>
    </div>`}function an({text:e}){return i`<div class="foreign">${e.split(/\n{2,}/).map(t=>i`<p dir="auto">${t}</p>`)}</div>`}var is=[{value:"first",name:"First is better"},{value:"second",name:"Second is better"},{value:"tie",name:"Equally good"}];function _a({task:e,criterion:t,place:n,isActive:o,isGap:s,answer:r,activate:a,choose:l,comment:u,next:f}){let d=`question-${n}`,m=e.pairs?is.map(({value:c,name:h})=>({value:c,shown:h,name:"",about:""})):t.levels,p=!e.pairs&&vt(t);return i`
    <section class=${o?"question active":"question"} data-place=${n} aria-labelledby=${d} onFocusIn=${a}>
      <h3 id=${d} tabindex="-1"><button class="plain" aria-expanded=${o} onClick=${a}>${t.name??"Preference"}</button>
        <span class=${s?"note":"pass"}>${s?Ie(r)?"reason missing":"open":"✓"}</span></h3>
      ${o&&i`<${rs} criterion=${t} />`}
      ${m.length?i`<div class="scale" role="radiogroup" aria-labelledby=${d}>
            ${m.map((c,h)=>i`
              <button role="radio" aria-checked=${String(r?.choice===c.value)} onClick=${()=>l(n,c.value,c.shown)}>
                ${(p||!c.name)&&i`<strong>${c.shown}</strong>`}
                ${p&&c.name&&" "}${c.name&&i`<span>${c.name}</span>`}
                ${!p&&o&&i` <kbd aria-hidden="true">${h+1}</kbd>`}</button>`)}
            <button role="radio" class="cannot" aria-checked=${String(!!r?.cannot)}
              onClick=${()=>l(n,null,"Cannot judge")}><span>Cannot judge</span> ${o&&i`<kbd aria-hidden="true">0</kbd>`}</button>
          </div>`:i`<${ba} criterion=${t} answer=${r} place=${n} choose=${l} />`}
      ${(o||r?.comment)&&i`
        <label class="comment"><span>${e.reason?"Reason (required)":"Comment (optional)"}</span>
          <textarea rows="2" value=${r?.comment??""} onInput=${c=>u(c.currentTarget.value,!0)} onChange=${c=>u(c.currentTarget.value)}
            onKeyDown=${c=>{c.key==="Enter"&&!c.shiftKey&&!c.isComposing&&!c.ctrlKey&&!c.metaKey&&(c.preventDefault(),c.currentTarget.blur(),f())}}></textarea></label>`}
    </section>`}function ba({criterion:e,answer:t,place:n,choose:o}){let[s,r]=x(t?.choice??""),[a,l]=x("");function u(f){f.preventDefault();let d=Number(s);if(s===""||!(d>=e.min&&d<=e.max)||e.whole&&!Number.isInteger(d)){l(`Type a ${e.whole?"whole number":"number"} from ${e.min} to ${e.max}.`);return}l(""),f.currentTarget.querySelector("input").blur(),o(n,d,String(d))}return i`<form class="scale" onSubmit=${u} novalidate>
    <label>Score, ${e.min} to ${e.max} <input type="number" step="any" min=${e.min} max=${e.max}
      value=${s} onInput=${f=>r(f.currentTarget.value)} /></label>
    <button>Set</button>
    <button type="button" class="cannot" aria-pressed=${!!t?.cannot} onClick=${()=>o(n,null,"Cannot judge")}>Cannot judge</button>
    <p class="fail" role="alert">${a}</p></form>`}function va({task:e,hasKeys:t,setHasKeys:n,close:o}){return i`<section class="help" aria-label="Keys"><${as} task=${e} isOpen />
    <label><input type="checkbox" checked=${t} onChange=${s=>n(s.currentTarget.checked)} /> Single keys are on</label>${" "}
    <button onClick=${o}>Close</button></section>`}function ya({task:e,items:t,work:n,go:o,save:s,leave:r,isPractice:a,isStored:l}){let u=j(null);if(Q(()=>u.current?.focus(),[]),a)return i`<section class="end"><h2 ref=${u} tabindex="-1">That was the practice item</h2>
      <button class="main" onClick=${r}>Back to the start</button></section>`;let f=t.map((c,h)=>[c,h]).filter(([c])=>!_t(e,n,c)),d=t.map((c,h)=>[c,h]).filter(([c])=>n.flags[c.id]?.on),m=t.reduce((c,h)=>c+Object.values(n.answers[h.id]??{}).filter(g=>g.cannot).length,0),p=(c,h)=>h.length>0&&i`<h3>${c}</h3><p class="jumps">${h.map(([,g])=>i`<button onClick=${()=>o(g)}>Item ${g+1}</button>`)}</p>`;return i`
    <section class="end">
      <h2 ref=${u} tabindex="-1">${f.length?`${yt(f.length,"item is","items are")} not finished`:"All items are done"}</h2>
      ${m>0&&i`<p>You could not judge ${yt(m,"criterion","criteria")}; that is recorded as such.</p>`}
      ${p("Not finished",f)}
      ${p("Flagged",d)}
      ${l?i`<p>Every answer is stored. You can close this page.</p>`:i`<p>Save the file and send it back to whoever gave you this page.</p><button class="main" onClick=${s}>Save file</button>`}
    </section>`}var ls=xn(),ln=document.getElementById("cases");if(ls&&ln){ln.querySelector(".static").classList.add("print-only");let e=document.createElement("div");e.className="screen-only",ln.querySelector(".static").before(e),ee(i`<${bo} index=${ls} />`,e)}yo();vo();wo(document);Bo();Uo();Ko();os();})();
