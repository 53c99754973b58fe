/* judgekit, with preact, htm, diff: licences in LICENSES.txt */
(()=>{var F,pn,ps,me,xt,et,$n,Qe,mn,St,Ct,$s,qe=Symbol.for("pv"),tt={},nt=[],ms=/^m(i|n|o|s|text|space)$/,Et=Array.isArray,Tt=nt.slice,we=Object.assign;function ye(e){e&&e.parentNode&&e.remove()}function hn(e,t,n){var o,s,r,a={},c=arguments.length;for(r in t)r=="key"?o=t[r]:r=="ref"&&typeof e!="function"?s=t[r]:a[r]=t[r];return c>2&&(a.children=c>3?Tt.call(arguments,2):n),We(e,a,o,s,null)}function We(e,t,n,o,s){var r={type:e,props:t,key:n,ref:o,__k:null,__:null,__b:0,__e:null,__c:null,constructor:qe,__v:s||++pn,__i:-1,__u:0};return!s&&F.vnode&&F.vnode(r),r}function ot(e){return e.children}function Xe(e,t){this.props=e,this.context=t,this.__g=0}function he(e,t){if(t==null)return e.__&&he(e.__,e.__i+1);for(var n;t<e.__k.length;t++)if((n=e.__k[t])&&n.__e)return n.__e;return typeof e.type!="function"||e.props.__P?null:he(e)}function hs(e){var t,n=e.__v,o=n.__e,s=[],r=[],a=e.__P;a&&((t=we({constructor:qe},n)).__v=n.__v+1,F.vnode&&F.vnode(t),Pt(a,t,n,e.__n,a.namespaceURI,32&n.__u?[o]:null,s,o||he(n),32&n.__u,r),t.__v=n.__v,t.__.__k[t.__i]=t,wn(s,t,r),n.__=n.__e=null,t.__e!=o&&gn(t))}function gn(e){if((e=e.__)&&e.__c&&!e.props.__P)return e.__e=null,e.__k.some(function(t){return t&&(e.__e=t.__e)}),gn(e)}function dn(e){(8&e.__g||(e.__g|=8,me.push(e),et++))&&xt==F.debounceRendering||((xt=F.debounceRendering)||queueMicrotask)(_n)}function _n(){try{for(var e,t=1;me.length;)me.length>t&&me.sort($n),e=me.shift(),t=me.length,8&e.__g&&hs(e)}finally{(et=me.length)&&(xt||queueMicrotask)(_n)}}function bn(e,t,n,o,s,r,a,c,u,d,f){var $,p,l,h,g,k,x=o.__k||nt,_=t.length;for(u=gs(n,t,x,u,_),$=0;$<_;$++)(l=n.__k[$])!=null&&(p=~l.__i&&x[l.__i]||tt,l.__i=$,k=Pt(e,l,p,s,r,a,c,u,d,f),h=l.__e,(p.ref!=l.ref||8&p.__u)&&(p.ref&&Ot(p.ref,null,l,p),l.ref&&f.push(l.ref,l.__c||h,l)),g=g||h,4&l.__u?(u=vn(l,u,e,!p.__v),p.__e&&(p.__e=null)):typeof l.type=="function"&&k!==void 0?u=k:h&&(u=h.nextSibling),l.__u&=-21);return n.__e=g,u}function gs(e,t,n,o,s){var r,a,c,u,d,f,$,p,l,h=n.length,g=h,k=0,x=0,_=e.__k=Array(s);for(r=0;r<s;r++)(a=t[r])!=null&&typeof a!="boolean"&&typeof a!="function"?(typeof a!="object"||a.constructor===String?a=_[r]=We(null,a):Et(a)?a=_[r]=We(ot,{children:a}):a.constructor===qe&&a.__b?a=_[r]=We(a.type,a.props,a.key,a.ref,a.__v):_[r]=a,u=r+k,a.__=e,a.__b=e.__b+1,c=null,~(d=a.__i=_s(a,n,u,g))&&(g--,(c=n[d])&&(c.__u|=2)),c&&c.__v?(a.__u|=16,d==u-1?k--:d==u+1?k++:d!=u&&(d>u?k--:k++,x=1)):(~d||(s>h?k--:s<h&&k++),typeof a.type!="function"&&(a.__u|=4))):_[r]=null;if(x){for(f=[],$=[],r=0;r<s;r++)if((a=_[r])&&16&a.__u){for(k=0,p=f.length;k<p;)f[l=k+p>>1]<a.__i?k=l+1:p=l;f[k]=a.__i,$[r]=k+1}for(k=f.length;r--;)$[r]&&($[r]==k?k--:_[r].__u|=4)}if(g)for(r=0;r<h;r++)!(c=n[r])||2&c.__u||(c.__e==o&&(o=he(c)),Lt(c,c));return o}function vn(e,t,n,o){var s,r,a,c;if(typeof e.type=="function"){if(e.props.__P)return t;if(s=e.__k)for(r=0;r<s.length;r++)s[r]&&(s[r].__=e,t=vn(s[r],t,n,!1));return t}for(t&&!t.parentNode&&(t=he(e))&&!t.parentNode&&(t=null),a=e.__e,c=t;c&&c.nodeType==8;)c=c.nextSibling;for(a!=c&&(!o&&n.moveBefore&&a.parentNode?n.moveBefore(a,t):n.insertBefore(a,t||null)),t=a;(t=t&&t.nextSibling)&&t.nodeType==8&&!t.data.startsWith("$s"););return t}function _s(e,t,n,o){var s,r=e.key,a=e.type,c=t[n],u=c&&!(2&c.__u);if(c===null&&r==null||u&&r==c.key&&a==c.type)return n;if(o>(u?1:0)){for(s=n-1;s>=0;s--)if((c=t[s])&&!(2&c.__u)&&r==c.key&&a==c.type)return s;for(s=n+1;s<t.length;s++)if((c=t[s])&&!(2&c.__u)&&r==c.key&&a==c.type)return s}return-1}function fn(e,t,n){n==null&&(n=""),t[0]=="-"?e.setProperty(t,n):e[t]=n}function Ye(e,t,n,o,s){var r,a;if(t=="style")if(typeof n=="string")e.style.cssText=n;else{if(typeof o=="string"&&(e.style.cssText=o=""),o)for(t in o)n&&t in n||fn(e.style,t);if(n)for(t in n)o&&n[t]==o[t]||fn(e.style,t,n[t])}else if(t[0]=="o"&&t[1]=="n")typeof n!="function"&&(n=null),typeof o!="function"&&(o=null),(e.__e||(e.__e={}))[t]=n,n&&o||(a=Ct[t]||(Ct[t]=bs(t)),(e.__a||(e.__a={}))[t]=St,r=t!=(t=t.replace(mn,"$1")),(t=t.slice(2))[0]<"a"&&(t=t.toLowerCase()),n?e.addEventListener(t,a,r):e.removeEventListener(t,a,r));else{if(s=="http://www.w3.org/2000/svg")t=t.replace(/xlink(H|:h)/,"h").replace(/sName$/,"s");else if(t!="width"&&t!="height"&&t!="href"&&t!="list"&&t!="form"&&t!="tabIndex"&&t!="download"&&t!="rowSpan"&&t!="colSpan"&&t!="role"&&t!="popover"&&t in e)try{return void(e[t]=n??"")}catch{}if(typeof n=="function")return;n==null||n===!1&&t[4]!="-"?e.removeAttribute(t):e.setAttribute(t,t=="popover"&&n==1?"":n)}}function bs(e){return function(t){var n=this.__e;if(n){if(n=n[e],t[Qe]==null)t[Qe]=St++;else if(t[Qe]<this.__a[e])return;return n(F.event?F.event(t):t)}}}function Pt(e,t,n,o,s,r,a,c,u,d){var f,$,p,l,h,g,k,x,_,b,C,L,O,W,P,m,y,E,j=t.type;if(t.constructor!==qe)return null;128&n.__u&&(u=32&n.__u,f=n.__c.__z)&&(t.__u|=u,$=r=[],f.nodeType==8?c=Ze(f,r):r.push(f),c=r[0]||c),(f=F.__b)&&f(t);e:if(typeof j=="function"){p=a.length;try{if(x=t.props,_=(f=j.prototype)&&f.render,b=(f=j.contextType)&&o[f.__c],C=f?b?b.props.value:f.__:o,(l=n.__c)?(t.__c=l,2&l.__g&&(l.__g|=1)):(_?t.__c=l=new j(x,C):(t.__c=l=new Xe(x,C),l.constructor=j,l.render=ys),b&&b.sub(l),l.state||(l.state={}),l.__n=o,l.__g|=8,l.__h=[],l.__k=[]),_&&(l.__s||(l.__s=l.state),j.getDerivedStateFromProps&&(l.__s==l.state&&(l.__s=we({},l.__s)),we(l.__s,j.getDerivedStateFromProps(x,l.__s)))),h=l.props,g=l.state,l.__v=t,n.__c){if(x!==h&&_&&!j.getDerivedStateFromProps&&l.componentWillReceiveProps&&l.componentWillReceiveProps(x,C),t.__v==n.__v&&!(8&l.__g)||!(4&l.__g)&&l.shouldComponentUpdate&&l.shouldComponentUpdate(x,l.__s,C)===!1){t.__v!=n.__v&&(l.props=x,l.state=l.__s,l.__g&=-9),t.__e=n.__e,t.__k=n.__k,t.__k.some(function(N){N&&(N.__=t)}),nt.push.apply(l.__h,l.__k),l.__k=[],l.__h.length&&a.push(l),c=he(n);break e}l.componentWillUpdate&&l.componentWillUpdate(x,l.__s,C),_&&l.componentDidUpdate&&l.__h.push(function(){l.componentDidUpdate(h,g,k)})}else _&&!j.getDerivedStateFromProps&&l.componentWillMount&&l.componentWillMount(),_&&l.componentDidMount&&l.__h.push(l.componentDidMount);l.context=C,l.props=x,l.__P=e,l.__g&=-5,L=F.__r,O=_?25:0;do l.__g&=-9,L&&L(t),f=l.render(l.props,l.state=l.__s,l.context);while(8&l.__g&&++O<25);_&&(nt.push.apply(l.__h,l.__k),l.__k=[]),l.state=l.__s,l.getChildContext&&(o=we({},o,l.getChildContext())),_&&n.__c&&l.getSnapshotBeforeUpdate&&(k=l.getSnapshotBeforeUpdate(h,g)),W=f&&f.type===ot&&f.key==null?f.props.children:f,x.__P&&(f=c,s=(e=x.__P).namespaceURI,u=r=null,n.props&&n.props.__P!=e&&(n.__k.some(function(N){N&&Lt(N,N)}),n.__k=null),c=n.__k?he(n,0):null),c=bn(e,Et(W)?W:[W],t,n,o,s,r,a,c,u,d),x.__P&&(t.__e=null,c=f),t.__u&=-161,$&&$.some(ye),l.__h.length&&a.push(l),1&l.__g&&(l.__g&=-4)}catch(N){if(a.length=p,t.__v=null,u||r)if(N&&N.then){if(t.__u|=128|u,r){for(~(y=r.indexOf(c||void 0))||(y=r.length);(E=r[y-1])&&E.nodeType==8;)y--;for(;y<r.length;y++)if(E=r[y])if(r[y]=null,P){if(E==m)break}else{if(E.nodeType!=8)break;E.data.startsWith("$s")&&(m=Ze(P=E))}}if(!P){for(;c&&c.nodeType==8&&c.nextSibling;)c=c.nextSibling;P=c}(f=Ze(P=t.__c.__z||(t.__c.__z=P)))?(t.__e=P,c=f):t.__e=c,c=c&&c.nextSibling}else r&&r.some(ye);else t.__e=n.__e;t.__k||(t.__k=n.__k||[]),N&&N.then||yn(t),F.__e(N,t,n)}}else c=t.__e=vs(n.__e,t,n,o,s,r,a,u,d,e);return(f=F.diffed)&&f(t),c}function Ze(e,t){if(e&&e.nodeType==8&&e.data.startsWith("$s"))for(var n=1;e=e.nextSibling;){if(e.nodeType==8){if(e.data.startsWith("$s"))n++;else if(e.data.startsWith("/$s")&&!--n)return e}t&&t.push(e)}}function yn(e){e&&(e.__c&&(e.__c.__g|=4),e.__k&&e.__k.some(yn))}function wn(e,t,n){for(var o=0;o<n.length;)Ot(n[o++],n[o++],n[o++]);F.__c&&F.__c(t,e),e.some(function(s){try{e=s.__h,s.__h=[],e.some(function(r){r.call(s)})}catch(r){F.__e(r,s.__v)}})}function vs(e,t,n,o,s,r,a,c,u,d){var f,$,p,l,h,g,k,x,_=n.props||tt,b=t.props,C=t.type;if(C=="svg"?s="http://www.w3.org/2000/svg":C=="math"?s="http://www.w3.org/1998/Math/MathML":s||(s="http://www.w3.org/1999/xhtml"),r){for(f=0;f<r.length;f++)if((h=r[f])&&(C?h.localName==C:h.nodeType==3)){e=h,r[f]=null;break}}if(!e){if(x=d.ownerDocument||document,!C)return x.createTextNode(b);e=x.createElementNS(s,C,b.is?b:d),c&&(F.__m&&F.__m(t,r),c=!1),r=null}if(C){if(d=C=="template"&&e.content||e,r=C=="textarea"&&b.defaultValue!=null?null:r&&Tt.call(d.childNodes),!c&&r)for(_={},f=0;f<e.attributes.length;f++)_[(h=e.attributes[f]).name]=h.value;for(f in _)h=_[f],f=="dangerouslySetInnerHTML"?p=h:f=="children"||f in b||f=="value"&&"defaultValue"in b||f=="checked"&&"defaultChecked"in b||Ye(e,f,null,h,s);for(f in b)h=b[f],f=="children"?l=h:f=="dangerouslySetInnerHTML"?$=h:f=="value"?g=h:f=="checked"?k=h:c&&typeof h!="function"||_[f]===h||Ye(e,f,h,_[f],s);$?(c||p&&($.__html==p.__html||$.__html==e.innerHTML)||(e.innerHTML=$.__html),t.__k=[]):(p&&(e.textContent=""),(C=="foreignObject"||s=="http://www.w3.org/1998/Math/MathML"&&ms.test(C))&&(s="http://www.w3.org/1999/xhtml"),bn(d,Et(l)?l:[l],t,n,o,s,r,a,r?r[0]:n.__k&&he(n,0),c,u),r&&r.some(ye)),c&&C!="textarea"||(f="value",C=="progress"&&g==null?e.removeAttribute(f):g==null||g===e[f]&&(C!="progress"||g)||Ye(e,f,g,_[f],s),f="checked",k!=null&&k!=e[f]&&Ye(e,f,k,_[f],s))}else _===b||c&&e.data==b||(e.data=b);return e}function Ot(e,t,n,o){try{typeof e=="function"?t?t.__x=e(t)||1:o&&(o=o.__c||o.__e)&&(t=o.__x)&&(o.__x=null,typeof t=="function"?t():e(null)):e.current=t}catch(s){F.__e(s,n)}}function Lt(e,t,n){var o,s,r,a;if(F.unmount&&F.unmount(e),!(o=e.ref)||o.current&&o.current!=e.__e||Ot(o,null,t,e),o=e.__c){if(o.componentWillUnmount)try{o.componentWillUnmount()}catch(c){F.__e(c,t)}o.__P=o.__n=null}if(o=e.__k)for(a=0;a<o.length;a++)o[a]&&Lt(o[a],t,typeof e.type!="function"||n&&!e.props.__P);!n&&(o=e.__c)&&(o=o.__z)&&(s=Ze(o,r=[]))&&(o==e.__e&&r.some(ye),ye(s),ye(o)),n||ye(e.__e),e.__e=e.__c=e.__=null}function ys(e,t,n){return this.constructor(e,n)}function ee(e,t){var n,o,s,r;F.__&&F.__(e,t),t.nodeType==9&&(t=t.documentElement),o=(n=e&&32&e.__u)?null:t.__k,t.__k=We(ot,{children:[e]}),s=[],r=[],Pt(t,t.__k,o||tt,tt,t.namespaceURI,o?null:t.firstChild?Tt.call(t.childNodes):null,s,o?o.__e:t.firstChild,n,r),wn(s,t.__k,r),t.__k.props.children=null}F={__e:function(e,t,n,o){for(var s,r,a;t=t.__;)if((s=t.__c)&&!(1&s.__g)){s.__g|=4;try{if((a=(r=s.constructor)&&r.getDerivedStateFromError)&&s.setState(r.getDerivedStateFromError(e)),s.componentDidCatch&&(s.componentDidCatch(e,o||{}),a=1),a&&8&s.__g)return void(s.__g|=2)}catch(c){e=c}}throw et=0,e}},pn=0,ps=function(e){return e!=null&&e.constructor===qe},Xe.prototype.setState=function(e,t){var n=this.__s;n&&n!=this.state||(n=this.__s=we({},this.state)),typeof e=="function"&&(e=e(we({},n),this.props)),e&&(we(n,e),this.__v&&(t&&this.__k.push(t),dn(this)))},Xe.prototype.forceUpdate=function(e){this.__v&&(this.__g|=4,e&&this.__h.push(e),dn(this))},Xe.prototype.render=ot,me=[],et=0,$n=function(e,t){return e.__v.__b-t.__v.__b},Qe=Symbol(),mn=/(PointerCapture)$|Capture$/i,St=0,Ct={},$s=0;var xn=function(e,t,n,o){var s;t[0]=0;for(var r=1;r<t.length;r++){var a=t[r++],c=t[r]?(t[0]|=a?1:2,n[t[r++]]):t[++r];a===3?o[0]=c:a===4?o[1]=Object.assign(o[1]||{},c):a===5?(o[1]=o[1]||{})[t[++r]]=c:a===6?o[1][t[++r]]+=c+"":a?(s=e.apply(c,xn(e,c,n,["",null])),o.push(s),c[0]?t[0]|=2:(t[r-2]=0,t[r]=s)):o.push(c)}return o},kn=new Map;function Cn(e){var t=kn.get(this);return t||(t=new Map,kn.set(this,t)),(t=xn(this,t.get(e)||(t.set(e,t=(function(n){for(var o,s,r=1,a="",c="",u=[0],d=function(p){r===1&&(p||(a=a.replace(/^\s*\n\s*|\s*\n\s*$/g,"")))?u.push(0,p,a):r===3&&(p||a)?(u.push(3,p,a),r=2):r===2&&a==="..."&&p?u.push(4,p,0):r===2&&a&&!p?u.push(5,0,!0,a):r>=5&&((a||!p&&r===5)&&(u.push(r,0,a,s),r=6),p&&(u.push(r,p,0,s),r=6)),a=""},f=0;f<n.length;f++){f&&(r===1&&d(),d(f));for(var $=0;$<n[f].length;$++)o=n[f][$],r===1?o==="<"?(d(),u=[u],r=3):a+=o:r===4?a==="--"&&o===">"?(r=1,a=""):a=o+a[0]:c?o===c?c="":a+=o:o==='"'||o==="'"?c=o:o===">"?(d(),r=1):r&&(o==="="?(r=5,s=a,a=""):o==="/"&&(r<5||n[f][$+1]===">")?(d(),r===3&&(u=u[0]),r=u,(u=u[0]).push(2,0,r),r=0):o===" "||o==="	"||o===`
`||o==="\r"?(d(),r=2):a+=o),r===3&&a==="!--"&&(r=4,u=u[0])}return d(),u})(e)),t),arguments,[])).length>1?t:t[0]}var i=Cn.bind(hn);var ws="judgekit-page/1";function st(e){return(Math.abs(e*8%2)===1?Math.round(e*50)/50:e).toFixed(2)}function Sn(){let e=document.getElementById("page-index");if(!e)return null;let t=JSON.parse(e.textContent);return t.format===ws?t:null}async function ks(e){let t=Uint8Array.from(atob(e),o=>o.charCodeAt(0)),n=new Blob([t]).stream().pipeThrough(new DecompressionStream("gzip"));return JSON.parse(await new Response(n).text())}async function xs(e){let t=await fetch(e);if(!t.ok)throw new Error(await t.text()||`the server answered ${t.status}`);return t.json()}var ke=new Map,Cs=8;function En(e){let t=ke.get(e);if(!t){let n=document.getElementById(`chunk-${e}`),o=document.getElementById("page-index").dataset.chunks;t=n?ks(n.textContent):xs(`${o}${e}`),t.catch(()=>ke.delete(e))}return ke.delete(e),ke.set(e,t),ke.size>Cs&&ke.delete(ke.keys().next().value),t}async function Tn(e,t){return(await En(Math.floor(t/e.chunk)))[t%e.chunk]}var At=[];function*Pn(e){if(typeof e=="string")yield e;else if(e&&typeof e=="object")for(let t of Object.values(e))yield*Pn(t)}function Mt(e,t){return At[t*e.chunk]!==void 0}async function On(e,t){let n=t*e.chunk;return Mt(e,t)||(await En(t)).forEach((s,r)=>{At[n+r]=[...Pn(s)].join(`
`).toLowerCase()}),At.slice(n,n+e.chunk)}var xe,K,It,Ln,jt=Object.is,Be=0,qn=[],Dt=[],U=F,An=U.__b,Mn=U.__r,In=U.diffed,jn=U.__c,Dn=U.unmount,Nn=U.__;function He(e,t){U.__h&&U.__h(K,e,Be||t),Be=0;var n=K.__H||(K.__H={__:[],__h:[]});return e>=n.__.length&&n.__.push({}),n.__[e]}function w(e){return Be=1,Ss(Bn,e)}function Ss(e,t,n){var o=He(xe++,2);if(o.t=e,!o.__c&&(o.__=[n?n(t):Bn(void 0,t),function(r){var a=(o.__N||o.__)[0],c=o.t(a,r);jt(a,c)||(o.__N=[c,o.__[1]],o.__c.setState({}))}],o.__c=K,!K.__f)){K.__f=!0;var s=K.shouldComponentUpdate;K.shouldComponentUpdate=function(r,a,c){var u=this.__H;if(!u)return!0;var d=!1,f=this.props!=r;if(u.__.some(function(p){p.__N&&(d=!0,jt(p.__[0],p.__N[0])||(f=!0))}),s){var $=s.call(this,r,a,c);return d?$||f:$}return!d||f}}return o.__}function D(e,t){var n=He(xe++,3);!U.__s&&Rt(n.__H,t)&&(n.__P=!0,n.__=e,n.u=t,K.__H.__h.push(n))}function Y(e,t){var n=He(xe++,4);!U.__s&&Rt(n.__H,t)&&(n.__P=!1,n.__=e,n.u=t,K.__h.push(n))}function M(e){return Be=5,J(function(){return{current:e}},[])}function J(e,t){var n=He(xe++,7);return Rt(n.__H,t)&&(n.__=e(),n.__H=t),n.__}function Fn(e,t){return Be=8,J(function(){return e},t)}function ge(){var e=He(xe++,11);if(!e.__){for(var t=K.__v;!t.__m&&t.__;)t=t.__;var n=t.__m||(t.__m=[0,0]);e.__="P"+n[0]+"-"+n[1]++}return e.__}function Es(){var e;do{for(;e=Dt.shift();)try{Fe(e)}catch(n){U.__e(n,{__:(e=e.__P)&&e.__v})}for(;e=qn.shift();){var t=e.__H;if(e.__P&&t)try{t.__h.some(Fe),t.__h.some(Nt),t.__h=[]}catch(n){t.__h=[],U.__e(n,e.__v)}}}while(Dt.length)}U.__b=function(e){K=null,An&&An(e)},U.__=function(e,t){e&&t.__k&&t.__k.__m&&(e.__m=t.__k.__m),Nn&&Nn(e,t)},U.__r=function(e){Mn&&Mn(e),xe=0;var t=(K=e.__c).__H;t&&(It==K?K.__h=[]:(t.__h.some(Fe),t.__h.some(Nt),xe=0),t.__h=[],t.__.some(function(n){n.__N&&(n.__=n.__N),n.u=n.__N=void 0})),It=K},U.diffed=function(e){In&&In(e);var t=e.__c;t&&t.__H&&(t.__H.__h.length&&Wn(qn.push(t)),t.__H.__.some(function(n){n.u&&(n.__H=n.u)})),It=K=null},U.__c=function(e,t){t.some(function(n){try{n.__h.some(Fe),n.__h=n.__h.filter(function(o){return!o.__||Nt(o)})}catch(o){n.__h=[function(){throw o}]}}),jn&&jn(e,t)},U.unmount=function(e){Dn&&Dn(e);var t,n,o=e.__c;o&&o.__H&&(o.__H.__.some(function(s){try{if(s.__P&&s.__c){if(n===void 0){for(n=e.__;n&&(!n.__c||!n.__c.__P);)n=n.__;n=n&&n.__c}s.__P=n,Wn(Dt.push(s))}else Fe(s)}catch(r){t=r}}),o.__H=void 0,t&&U.__e(t,o.__v))};var Rn=typeof requestAnimationFrame=="function";function Ts(e){var t,n=function(){clearTimeout(o),Rn&&cancelAnimationFrame(t),setTimeout(e)},o=setTimeout(n,35);Rn&&(t=requestAnimationFrame(n))}function Wn(e){e!=1&&Ln==U.requestAnimationFrame||((Ln=U.requestAnimationFrame)||Ts)(Es)}function Fe(e){var t=K,n=e.__c;typeof n=="function"&&(e.__c=void 0,n()),K=t}function Nt(e){var t=K;e.__c=e.__(),K=t}function Rt(e,t){return!e||e.length!=t.length||t.some(function(n,o){return!jt(n,e[o])})}function Bn(e,t){return typeof t=="function"?t(e):t}var Hn=["case","state","variant","tag","stratum","q","sort","answer","with"];function Ae(){let e=new URLSearchParams(location.hash.slice(1));return Object.fromEntries(Hn.filter(t=>e.get(t)).map(t=>[t,e.get(t)]))}function Wt(e){let t=new URLSearchParams;for(let o of Hn)e[o]&&t.set(o,e[o]);let n=t.toString();return n?`#${n}`:""}function qt(e){return location.href.split("#")[0]+Wt(e)}function Un(){let[e,t]=w(Ae);D(()=>{let o=()=>t(Ae());return addEventListener("popstate",o),addEventListener("hashchange",o),()=>{removeEventListener("popstate",o),removeEventListener("hashchange",o)}},[]);let n=Fn((o,{push:s=!1}={})=>{let r={...Ae(),...o},a=qt(r);s?history.pushState({pushed:!0},"",a):history.replaceState(history.state,"",a),t(Ae())},[]);return[e,n]}function ie(e){let[t,n]=w(()=>matchMedia(e).matches);return D(()=>{let o=matchMedia(e),s=()=>n(o.matches);return o.addEventListener("change",s),()=>o.removeEventListener("change",s)},[e]),t}var Kn=2,Ps=150;function Os(e){return J(()=>e.ids.map((t,n)=>[t,e.snippets[n],e.strata[n]??"",...e.tags[n]].join(`
`).toLowerCase()),[e])}var Ls=()=>new Promise(e=>{globalThis.requestIdleCallback?requestIdleCallback(e,{timeout:100}):setTimeout(e)});function Jn(e,t){let n=(t??"").trim().toLowerCase(),o=Os(e),s=J(()=>{if(!n)return null;let c=new Set;return o.forEach((u,d)=>u.includes(n)&&c.add(d)),c},[o,n]),[r,a]=w({needle:"",hits:new Set,share:1});return D(()=>{if(n.length<Kn)return;let c=!0,u=Math.ceil(e.n/e.chunk);async function d(){let f=new Set,$=performance.now();for(let p=0;p<u;p+=1){Mt(e,p)||await Ls();let l=await On(e,p);if(!c)return;l.forEach((g,k)=>g.includes(n)&&f.add(p*e.chunk+k));let h=performance.now();p+1<u&&h-$<Ps||($=h,a({needle:n,hits:new Set(f),share:(p+1)/u}))}}return d().catch(f=>c&&a({needle:n,hits:new Set,share:1,error:f})),()=>{c=!1}},[e,n]),J(()=>s?r.needle!==n?{hits:s,share:n.length<Kn?1:0}:{hits:r.hits.union?.(s)??new Set([...s,...r.hits]),share:r.share,error:r.error}:{hits:null,share:1},[s,r,n])}function As(e,t){if(!t)return e.order;let n=t.startsWith("-"),o=n?t.slice(1):t,s=e.columns.indexOf(o.replace(/^variant:/,"")),r=n?-1:1;if(o==="case"){let c=new Intl.Collator(void 0,{numeric:!0}).compare;return[...e.order].sort((u,d)=>r*c(e.ids[u],e.ids[d]))}if(s<0)return e.order;let a=e.cells[s].value;return[...e.order].sort((c,u)=>a[c]===null||a[u]===null?(a[c]===null)-(a[u]===null):r*(a[c]-a[u]))}function Vn(e,t,n){let o=J(()=>As(e,t.sort),[e,t.sort]);return J(()=>{let s=e.columns.indexOf(t.variant),r=s<0?null:e.cells[s],a=e.filters.find(f=>f.key===t.state)?.bit??0,c=Object.fromEntries(e.filters.map(f=>[f.key,0])),u=[],d=0;for(let f of o){if(n&&!n.has(f)||r&&r.state[f]===null||t.tag&&!e.tags[f].includes(t.tag)||t.stratum&&e.strata[f]!==t.stratum)continue;let $=r?r.mask[f]:e.masks[f];d+=1;for(let p of e.filters)$&p.bit&&(c[p.key]+=1);(!a||$&a)&&u.push(f)}return{rows:u,counts:c,all:d}},[e,o,t.state,t.variant,t.tag,t.stratum,n])}function zn(e){let t=new Map;for(let n of e)t.set(n,(t.get(n)??0)+1);return[...t].sort(([n],[o])=>n.localeCompare(o))}function rt({label:e,value:t,options:n,onChoose:o}){return i`<label class="choice">
    <span>${e}</span>
    <select value=${t??""} onChange=${s=>o(s.target.value)}>
      ${n.map(([s,r])=>i`<option value=${s} selected=${s===(t??"")}>${r}</option>`)}
    </select>
  </label>`}function Gn({filter:e,n:t,isOn:n,onClick:o}){return i`<button type="button" aria-pressed=${n} title=${e.title||null} disabled=${t===0&&!n} onClick=${o}>
    ${e.label} <span class="n">${t.toLocaleString("en")}</span>
  </button>`}function Yn({index:e,state:t,change:n,selection:o,search:s,searchBox:r,onFound:a,onHelp:c}){let u=ie("(max-width: 44rem)"),[d,f]=w(!1),$=J(()=>zn(e.tags.flat()),[e]),p=J(()=>zn(e.strata.filter(b=>b!==null)),[e]),l=b=>C=>n({[b]:C},{push:!0}),h=(b,C)=>[["",C],...b.map(([L,O])=>[L,`${L} (${O.toLocaleString("en")})`])],g=[["","what needs attention first"],["case","by case"],...e.columns.flatMap(b=>[[`variant:${b}`,`${b}, lowest first`],[`-variant:${b}`,`${b}, highest first`]])],k=["variant","tag","stratum","sort"].filter(b=>t[b]).length,x=b=>{b.key!=="Escape"&&b.key!=="Enter"||(b.preventDefault(),b.target.blur(),b.key==="Enter"&&a())},_=Math.floor(s.share*100);return i`<div class="filters" role="search" aria-label="Cases">
    <div class="states" role="group" aria-label="Show">
      <${Gn} filter=${{label:"All"}} n=${o.all} isOn=${!t.state}
        onClick=${()=>l("state")("")} />
      ${e.filters.map(b=>i`<${Gn} key=${b.key} filter=${b}
        n=${o.counts[b.key]} isOn=${t.state===b.key}
        onClick=${()=>l("state")(t.state===b.key?"":b.key)} />`)}
    </div>
    <div class="searching">
      <input type="search" ref=${r} value=${t.q??""} placeholder="Search ids and all texts"
        aria-label="Search ids and all texts" onInput=${b=>n({q:b.target.value})}
        onKeyDown=${x} />
      ${u&&i`<button type="button" aria-expanded=${d} onClick=${()=>f(!d)}>
        Filters${k>0&&` (${k})`}</button>`}
      <button type="button" onClick=${c} aria-label="Keyboard shortcuts" title="Keyboard shortcuts (?)">?</button>
    </div>
    ${(!u||d)&&i`<div class="choices">
      ${e.columns.length>1&&i`<${rt} label="variant" value=${t.variant} onChoose=${l("variant")}
        options=${[["","any"],...e.columns.map(b=>[b,b])]} />`}
      ${$.length>0&&i`<${rt} label="tag" value=${t.tag} onChoose=${l("tag")} options=${h($,"any")} />`}
      ${p.length>0&&i`<${rt} label="stratum" value=${t.stratum} onChoose=${l("stratum")} options=${h(p,"any")} />`}
      <${rt} label="order" value=${t.sort} onChoose=${l("sort")} options=${g} />
    </div>`}
    <p class="count">
      <span role="status">${o.rows.length.toLocaleString("en")} of ${e.n.toLocaleString("en")} ${e.n===1?"case":"cases"}</span>
      ${s.share<1&&i`<span class="progress">, searching all texts: ${_} %</span>`}
      ${s.error&&i`<span class="fail">, the texts could not be searched: ${s.error.message}</span>`}
      ${Ms(t)&&i` <button type="button" class="plain" onClick=${()=>n({state:"",variant:"",tag:"",stratum:"",q:"",sort:""},{push:!0})}>Show all</button>`}
    </p>
  </div>`}function Ms(e){return["state","variant","tag","stratum","q","sort"].some(t=>e[t])}var Is=34,js=108,Qn=8;function Ds(e,t){if(t===null)return 2;let n=e==="fail"?1-t:t;return 1+Math.min(3,Math.max(0,Math.floor(n*4)))}function Ns({index:e,column:t,row:n,isAt:o,tag:s="td"}){let r=e.cells[t],a=r.state[n],c=e.columns[t],u=s==="td"?"cell":null;if(a===null)return s==="td"&&i`<td role="cell" class=${o?"cell at":"cell"} data-column=${t}></td>`;let{label:d,sign:f,tone:$}=e.states[a],p=r.value[n],l=r.text[n]||(p===null?"":st(p));return i`<${s} role=${u} class=${`cell ${$}-fill s${Ds($,p)}${o?" at":""}`}
    data-column=${t} title=${`${c}: ${d}`}>
    ${s!=="td"&&i`<bdi class="name">${c}</bdi> `}
    <span class=${`sign ${$}`} aria-hidden="true">${f}</span> ${l||i`<span class="word">${d}</span>`}
    ${l&&i`<span class="hidden">, ${d}</span>`}
  <//>`}function Xn({name:e,sortKey:t,state:n,change:o,className:s}){let r=n.sort===t,a=n.sort===`-${t}`,c=r?`-${t}`:a?"":t;return i`<th scope="col" role="columnheader" class=${s} aria-sort=${r?"ascending":a?"descending":null}>
    <button type="button" class="sort" title=${`Sort by ${e}`} onClick=${()=>o({sort:c},{push:!0})}>
      <bdi>${e}</bdi><span aria-hidden="true">${r?" ▲":a?" ▼":""}</span>
    </button>
  </th>`}function Zn({index:e,rows:t,state:n,change:o,active:s,setActive:r,column:a,openRow:c,focusing:u}){let d=M(null),f=M(!1),$=ie("(max-width: 44rem)"),p=$?js:Is,[l,h]=w({top:0,height:800}),g=()=>{let{scrollTop:m,clientHeight:y}=d.current,E=Math.floor(m/p)*p;h(j=>j.top===E&&j.height===y?j:{top:E,height:y})};Y(()=>{g();let m=new ResizeObserver(g);return m.observe(d.current),()=>m.disconnect()},[p,t.length]),Y(()=>{d.current.scrollTop=0},[n.state,n.variant,n.tag,n.stratum,n.q,n.sort]),Y(()=>{if(s<0)return;let{scrollTop:m,clientHeight:y}=d.current,E=s*p;E<m?d.current.scrollTop=E:E+2*p>m+y&&(d.current.scrollTop=E+2*p-y),g()},[s,p]);let k=Math.max(0,Math.floor(l.top/p)-Qn),x=Math.min(t.length,Math.ceil((l.top+l.height)/p)+Qn);D(()=>{if(u.current===s&&s>=k&&s<x){u.current=-1;let m=d.current.querySelector(`[data-place="${s}"]`);f.current=!0,m.querySelector("a").focus({preventScroll:!0}),f.current=!1,m.scrollIntoView({block:"nearest"})}});let _=e.tags.some(m=>m.length>0)||e.strata.some(m=>m!==null),b=m=>[e.strata[m],...e.tags[m]].filter(Boolean),C=2+(_?1:0)+e.columns.length,L=m=>i`<tr role="presentation" class="spacer" aria-hidden="true">
    <td role="presentation" colspan=${C} ref=${y=>y&&(y.style.height=`${m*p}px`)}></td></tr>`,O=m=>{m&&(m.style.minWidth=$?"":`${(_?540:420)+108*e.columns.length}px`)},W=m=>{let y=m.target.closest("tr[data-row]");if(!y||m.ctrlKey||m.metaKey||m.shiftKey||!getSelection().isCollapsed)return;m.preventDefault();let E=m.target.closest("[data-column]")?.dataset.column;r(Number(y.dataset.place)),c(Number(y.dataset.row),E===void 0?void 0:e.columns[E])},P=e.columns.length<=4&&e.columns.some(m=>m.length>12);return i`<div class=${P?"grid few":"grid"} ref=${d} onScroll=${g}>
    <table role="table" aria-label="Cases" aria-rowcount=${t.length+1} ref=${O} onClick=${W}>
      <colgroup><col class="c-id" /><col />${_&&i`<col class="c-tags" />`}
        ${e.columns.map(()=>i`<col class="c-value" />`)}</colgroup>
      <thead role="rowgroup"><tr role="row" aria-rowindex="1">
        <${Xn} name="case" sortKey="case" state=${n} change=${o} />
        <th scope="col" role="columnheader">input</th>
        ${_&&i`<th scope="col" role="columnheader">tags</th>`}
        ${e.columns.map(m=>i`<${Xn} key=${m} name=${m} sortKey=${`variant:${m}`} state=${n} change=${o} />`)}
      </tr></thead>
      <tbody role="rowgroup">
        ${k>0&&L(k)}
        ${t.slice(k,x).map((m,y)=>{let E=k+y,j=E===s,N=S=>e.columns.map((v,q)=>i`<${Ns} key=${v} tag=${S} index=${e} column=${q} row=${m} isAt=${j&&q===a} />`);return i`<tr key=${m} role="row" data-row=${m} data-place=${E} aria-rowindex=${E+2} class=${j?"active":null}>
            <th scope="row" role="rowheader" class="id"><a href=${Wt({...n,case:e.ids[m]})}
              tabindex=${j||s<0&&E===0?0:-1}
              onFocus=${()=>f.current||r(E)}><bdi>${e.ids[m]}</bdi></a></th>
            <td role="cell" class="snippet" dir="auto">${e.snippets[m]}</td>
            ${_&&i`<td role="cell" class="tags" title=${b(m).join(", ")}>${b(m).map(S=>i`<bdi class="tag">${S}</bdi> `)}</td>`}
            ${$?i`<td role="cell" class="cells">${N("span")}</td>`:N("td")}
          </tr>`})}
        ${x<t.length&&L(t.length-x)}
      </tbody>
    </table>
    ${t.length===0&&i`<p class="empty">${e.n===0?"There are no cases yet.":"No case matches. “Show all” removes the filters."}</p>`}
  </div>`}var eo="judgekit-single-keys";function Rs(){try{return localStorage.getItem(eo)!=="off"}catch{return!0}}function Ws(e){try{localStorage.setItem(eo,e?"on":"off")}catch{}}function to(){let[e,t]=w(Rs);return[e,n=>{Ws(n),t(n)}]}function le(e,t){let n=M(null);n.current=t?e:{},Y(()=>{let o=s=>{if(s.defaultPrevented||s.ctrlKey||s.metaKey||s.altKey||s.target.closest?.("input:not([type=checkbox]), select, textarea, [contenteditable]"))return;let r=n.current[s.key];r&&r()!==!1&&s.preventDefault()};return document.addEventListener("keydown",o),()=>document.removeEventListener("keydown",o)},[])}function Ft({label:e,className:t,onClose:n,children:o}){let s=M(null);return D(()=>{s.current.showModal(),s.current.focus()},[]),i`<dialog ref=${s} class=${t} aria-label=${e} tabindex="-1"
    onCancel=${r=>{r.preventDefault(),n()}}
    onClick=${r=>r.target===s.current&&n()}>${o}</dialog>`}function no({rows:e,isOn:t,setOn:n,onClose:o}){return i`<${Ft} label="Keyboard shortcuts" className="help" onClose=${o}>
    <div class="inside">
      <header><h2>Keyboard shortcuts</h2><button type="button" onClick=${o} aria-label="Close">✕</button></header>
      <table><tbody>${e.map(([s,r])=>i`<tr>
        <th scope="row">${s.split(" ").map(a=>i`<kbd>${a}</kbd> `)}</th><td>${r}</td></tr>`)}</tbody></table>
      <label class="check"><input type="checkbox" checked=${t} onChange=${s=>n(s.target.checked)} />
        Use shortcuts of a single key</label>
    </div>
  <//>`}var qs=/\r(?!\n)|[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]|\udb40[\udc00-\udc7f]/g,Fs=/^ {0,3}(```|~~~)[^\n]*\n[\s\S]*?(?:^ {0,3}\1[^\n]*$|$(?![\s\S]))/gm;function R(e){let t=[],n=0;for(let o of e.matchAll(qs)){let s=`U+${o[0].codePointAt(0).toString(16).toUpperCase().padStart(4,"0")}`;t.push(e.slice(n,o.index),i`<span class="chip" title="invisible character">${s}</span>`),n=o.index+o[0].length}return n?[...t,e.slice(n)]:e}function Bs(e,t,n){let o=new Set([0,e.length]);for(let{start:r,end:a}of[...t,...n])o.add(r).add(a);let s=[...o].sort((r,a)=>r-a);return s.slice(1).map((r,a)=>{let c=s[a],u=d=>d.start<=c&&r<=d.end;return{start:c,end:r,marks:t.filter(u),isCode:n.some(u)}})}var Bt=({images:e=[]})=>e.map(({src:t,title:n})=>i`<img class="picture" src=${t} alt=${n} title=${n} />`);function X({text:e,images:t=[],mono:n=!1,marks:o=[],at:s=null,onPick:r=null,label:a=null}){let c=n?[]:[...e.matchAll(Fs)].map(d=>({start:d.index,end:d.index+d[0].length})),u=Bs(e,o,c).map(d=>{let f=R(e.slice(d.start,d.end)),$=d.isCode?i`<span class="code">${f}</span>`:f;if(d.marks.length===0)return $;let p=d.marks.filter(_=>_.no),l=d.marks.map(_=>_.note).filter(Boolean),h=p.map(_=>_.no),g=p.filter(_=>_.end===d.end).map(_=>_.no),k=h.length>0?[`${h.length>1?"quotes":"quote"} ${h.join(", ")}`]:[],x=[`n${Math.min(3,d.marks.length)}`,h.includes(s)&&"at",l.length>0&&"scrubbed"];return i`<mark class=${x.filter(Boolean).join(" ")}
      data-quotes=${h.join(" ")} data-ends=${g.join(" ")||null}
      title=${[...k,...l].join("; ")}
      onClick=${r&&h.length>0?()=>r(h[0]):null}>${$}${l.length>0&&i`<span class="hidden"> (${l.join("; ")})</span>`}</mark>`});return i`<div class=${`passage${n?" mono":""}`} dir="auto" tabindex="0" role="group" aria-label=${a}>${u}</div><${Bt} images=${t} />`}var Hs={pass:"✓",fail:"✗",inconclusive:"?",error:"!"};function ce({tone:e,children:t}){return i`<span class=${`badge ${e}-fill`}><span class=${e} aria-hidden="true">${Hs[e]??""}</span> ${t}</span>`}function _e({facts:e}){return e.length>0&&i`<p class="facts">${e.map((t,n)=>i`${n>0&&" · "}<bdi>${R(t)}</bdi>`)}</p>`}function Us({quote:e,isAt:t,onPick:n}){let o=e.of?i`output <bdi>${R(e.of)}</bdi>`:"the output",s=e.match===null?i`<span class="fail">not found in ${o}</span>`:i`<span class="note">${e.of&&o}${e.match==="exact"?"":" found but for white space"}</span>`;return i`<li class=${t?"at":null} data-quote=${e.no}>
    ${e.match===null?i`<span class="number" aria-hidden="true">${e.no}</span>`:i`<button type="button" class="number" onClick=${()=>n(e.no)} title="Show it in the output">
          <span class="hidden">quote </span>${e.no}</button>`}
    <q dir="auto">${R(e.text)}</q> ${s}</li>`}function Ks({exchange:e,omitted:t,isOpen:n}){return e?i`<details class="exchange" open=${n}>
    <summary>Prompt and reply</summary>
    ${e.note&&i`<p class="note">${e.note}</p>`}
    ${e.messages.map(o=>i`<h5>${o.role}</h5><${X} text=${o.text} label=${o.role} />`)}
    ${e.reply!==null&&i`<h5>reply</h5><${X} text=${e.reply} mono label="reply" />`}
  </details>`:t&&i`<details class="exchange" open=${n}><summary>Prompt and reply</summary><p class="note">${t}</p></details>`}function at({row:e,exchanges:t=[],view:n}){let o=e.tone==="error"?i`<${ce} tone="error">${e.score}<//>`:i`<strong class=${e.tone}>${R(e.score)}</strong>`;return i`<div class="opinion">
    <p>${e.who&&i`<span class="who"><bdi>${R(e.who)}</bdi>:</span> `}${o}${e.value&&i`<span class="dim"> → ${e.value}</span>`}</p>
    <${_e} facts=${e.facts} />
    ${e.rationale?i`<p class="rationale" dir="auto">${R(e.rationale)}</p>`:i`<p class="note">no reason</p>`}
    ${e.quotes.length>0&&i`<ol class="quotes">${e.quotes.map(s=>i`<${Us} key=${s.no} quote=${s} isAt=${n.quote===s.no} onPick=${n.pick} />`)}</ol>`}
    ${e.reply&&i`<details><summary>What the judge wrote</summary><${X} text=${e.reply} mono label="reply" /></details>`}
    <${Ks} exchange=${t[e.exchange]} omitted=${n.omitted} isOpen=${n.isPromptOpen} />
  </div>`}function Js({group:e,exchanges:t,question:n,view:o}){return i`<section class=${`criterion ${e.tone}-edge`}>
    <h4><bdi>${R(e.title)}</bdi> ${e.result&&i`<${ce} tone=${e.tone}>${e.result}<//>`}</h4>
    <${_e} facts=${e.facts} />
    ${n&&i`<p class="question" dir="auto">${R(n)}</p>`}
    ${e.rows.map(s=>i`<${at} row=${s} exchanges=${t} view=${o} />`)}
  </section>`}function oo({check:e}){return i`<li><${ce} tone=${e.tone==="inconclusive"?"error":e.tone}>${e.word}<//> <strong>${R(e.type)}</strong>
    <span dir="auto"> ${R(e.message)}</span>
    ${e.actual!==null&&i`<div class="dim">found <code>${R(e.actual)}</code></div>`}
    ${e.parts.length>0&&i`<ul class="checks">${e.parts.map(t=>i`<${oo} check=${t} />`)}</ul>`}
  </li>`}function so({answer:e,view:t}){return i`
    <h3>output</h3>
    ${e.error!==null&&i`<p class="no-output"><${ce} tone="error">no output<//> <span dir="auto">${R(e.error)}</span></p>`}
    ${e.output?i`<${X} text=${e.output} images=${e.images} mono=${e.mono} marks=${e.marks} at=${t.quote} onPick=${t.pick} label="output" />`:e.error===null&&i`<p class="note">${e.is_verdict_only?"The file holds verdicts only, and no outputs.":"The output is empty."}</p>`}
    ${e.steps&&i`<h3>steps, as the judge was shown them</h3>
      <${X} text=${e.steps.text} marks=${e.steps.marks} at=${t.quote} onPick=${t.pick} label="steps" />`}`}function ro({answer:e,questions:t,view:n}){let o=e.opinions;return i`
    ${e.checks.length>0&&i`<h3>assertions</h3><ul class="checks">${e.checks.map(s=>i`<${oo} check=${s} />`)}</ul>`}
    ${o.length>0&&i`<h3>judgments</h3>${o.map(s=>i`<${Js} key=${s.title} group=${s} exchanges=${e.exchanges} question=${t[s.title]} view=${n} />`)}`}
    ${e.scores.length>0&&i`<h3>scores</h3><table class="scores"><tbody>${e.scores.map(s=>i`<tr>
      <th scope="row"><bdi>${R(s.name)}</bdi></th><td class="number">${s.value}</td><td dir="auto">${R(s.text)}</td></tr>`)}</tbody></table>`}
    ${e.checks.length+o.length+e.scores.length===0&&i`<p class="note">Nothing was checked or judged.</p>`}`}var Vs=400;function zs({title:e,text:t,mono:n}){let o=i`<${X} text=${t} mono=${n} label=${e||"content"} />`;return t.length<=Vs?i`${e&&i`<div class="part">${R(e)}</div>`}${o}`:i`<details><summary>${R(e)||"content"}, ${t.length.toLocaleString("en")} characters</summary>${o}</details>`}function ao({trace:e}){let t=Math.max(0,...e.map(o=>o.ms??0)),n=o=>s=>s&&(s.style.width=`${Math.max(1,100*o.ms/t)}%`);return i`<ol class="timeline">
    ${e.map(o=>i`<li class=${o.is_error?"is-error":null}>
      <div class="event"><span class="type">${o.is_error?"! ":""}${R(o.type)}</span>
        ${o.name&&i`<strong><bdi>${R(o.name)}</bdi></strong>`}
        ${o.took&&i`<span class="took">${o.took}</span>`}
      </div>
      ${o.ms!==null&&t>0&&i`<div class="track" aria-hidden="true"><div ref=${n(o)}></div></div>`}
      ${o.parts.map(s=>i`<${zs} ...${s} />`)}
    </li>`)}
  </ol>`}var be=class{diff(t,n,o={}){let s;typeof o=="function"?(s=o,o={}):"callback"in o&&(s=o.callback);let r=this.castInput(t,o),a=this.castInput(n,o),c=this.removeEmpty(this.tokenize(r,o)),u=this.removeEmpty(this.tokenize(a,o));return this.diffWithOptionsObj(c,u,o,s)}diffWithOptionsObj(t,n,o,s){var r;let a=_=>{if(_=this.postProcess(_,o),s){setTimeout(function(){s(_)},0);return}else return _},c=n.length,u=t.length,d=1,f=c+u;o.maxEditLength!=null&&(f=Math.min(f,o.maxEditLength));let $=(r=o.timeout)!==null&&r!==void 0?r:1/0,p=Date.now()+$,l=[{oldPos:-1,lastComponent:void 0}],h=this.extractCommon(l[0],n,t,0,o);if(l[0].oldPos+1>=u&&h+1>=c)return a(this.buildValues(l[0].lastComponent,n,t));let g=-1/0,k=1/0,x=()=>{for(let _=Math.max(g,-d);_<=Math.min(k,d);_+=2){let b,C=l[_-1],L=l[_+1];C&&(l[_-1]=void 0);let O=!1;if(L){let P=L.oldPos-_;O=L&&0<=P&&P<c}let W=C&&C.oldPos+1<u;if(!O&&!W){l[_]=void 0;continue}if(!W||O&&C.oldPos<L.oldPos?b=this.addToPath(L,!0,!1,0,o):b=this.addToPath(C,!1,!0,1,o),h=this.extractCommon(b,n,t,_,o),b.oldPos+1>=u&&h+1>=c)return a(this.buildValues(b.lastComponent,n,t))||!0;l[_]=b,b.oldPos+1>=u&&(k=Math.min(k,_-1)),h+1>=c&&(g=Math.max(g,_+1))}d++};if(s)(function _(){setTimeout(function(){if(d>f||Date.now()>p)return s(void 0);x()||_()},0)})();else for(;d<=f&&Date.now()<=p;){let _=x();if(_)return _}}addToPath(t,n,o,s,r){let a=t.lastComponent;return a&&!r.oneChangePerToken&&a.added===n&&a.removed===o?{oldPos:t.oldPos+s,lastComponent:{count:a.count+1,added:n,removed:o,previousComponent:a.previousComponent}}:{oldPos:t.oldPos+s,lastComponent:{count:1,added:n,removed:o,previousComponent:a}}}extractCommon(t,n,o,s,r){let a=n.length,c=o.length,u=t.oldPos,d=u-s,f=0;for(;d+1<a&&u+1<c&&this.equals(o[u+1],n[d+1],r);)d++,u++,f++,r.oneChangePerToken&&(t.lastComponent={count:1,previousComponent:t.lastComponent,added:!1,removed:!1});return f&&!r.oneChangePerToken&&(t.lastComponent={count:f,previousComponent:t.lastComponent,added:!1,removed:!1}),t.oldPos=u,d}equals(t,n,o){return o.comparator?o.comparator(t,n):t===n||!!o.ignoreCase&&t.toLowerCase()===n.toLowerCase()}removeEmpty(t){let n=[];for(let o=0;o<t.length;o++)t[o]&&n.push(t[o]);return n}castInput(t,n){return t}tokenize(t,n){return Array.from(t)}join(t){return t.join("")}postProcess(t,n){return t}get useLongestToken(){return!1}buildValues(t,n,o){let s=[],r;for(;t;)s.push(t),r=t.previousComponent,delete t.previousComponent,t=r;s.reverse();let a=s.length,c=0,u=0,d=0;for(;c<a;c++){let f=s[c];if(f.removed)f.value=this.join(o.slice(d,d+f.count)),d+=f.count;else{if(!f.added&&this.useLongestToken){let $=n.slice(u,u+f.count);$=$.map(function(p,l){let h=o[d+l];return h.length>p.length?h:p}),f.value=this.join($)}else f.value=this.join(n.slice(u,u+f.count));u+=f.count,f.added||(d+=f.count)}}return s}};function Ht(e,t){let n;for(n=0;n<e.length&&n<t.length;n++)if(e[n]!=t[n])return e.slice(0,n);return e.slice(0,n)}function Ut(e,t){let n;if(!e||!t||e[e.length-1]!=t[t.length-1])return"";for(n=0;n<e.length&&n<t.length;n++)if(e[e.length-(n+1)]!=t[t.length-(n+1)])return e.slice(-n);return e.slice(-n)}function it(e,t,n){if(e.slice(0,t.length)!=t)throw Error(`string ${JSON.stringify(e)} doesn't start with prefix ${JSON.stringify(t)}; this is a bug`);return n+e.slice(t.length)}function lt(e,t,n){if(!t)return e+n;if(e.slice(-t.length)!=t)throw Error(`string ${JSON.stringify(e)} doesn't end with suffix ${JSON.stringify(t)}; this is a bug`);return e.slice(0,-t.length)+n}function Me(e,t){return it(e,t,"")}function Ue(e,t){return lt(e,t,"")}function Kt(e,t){return t.slice(0,Gs(e,t))}function Gs(e,t){let n=0;e.length>t.length&&(n=e.length-t.length);let o=t.length;e.length<t.length&&(o=e.length);let s=Array(o),r=0;s[0]=0;for(let a=1;a<o;a++){for(t[a]==t[r]?s[a]=s[r]:s[a]=r;r>0&&t[a]!=t[r];)r=s[r];t[a]==t[r]&&r++}r=0;for(let a=n;a<e.length;a++){for(;r>0&&e[a]!=t[r];)r=s[r];e[a]==t[r]&&r++}return r}function Jt(e,t){let n=[];for(let o of Array.from(t.segment(e))){let s=o.segment;n.length&&/\s/.test(n[n.length-1])&&/\s/.test(s)?n[n.length-1]+=s:n.push(s)}return n}function ct(e,t){if(t)return Ie(e,t)[1];let n;for(n=e.length-1;n>=0&&e[n].match(/\s/);n--);return e.substring(n+1)}function Ce(e,t){if(t)return Ie(e,t)[0];let n=e.match(/^\s*/);return n?n[0]:""}function Ie(e,t){if(!t)return[Ce(e),ct(e)];if(t.resolvedOptions().granularity!="word")throw new Error('The segmenter passed must have a granularity of "word"');let n=Jt(e,t),o=n[0],s=n[n.length-1],r=/\s/.test(o)?o:"",a=/\s/.test(s)?s:"";return[r,a]}var ut="a-zA-Z0-9_\\u{AD}\\u{C0}-\\u{D6}\\u{D8}-\\u{F6}\\u{F8}-\\u{2C6}\\u{2C8}-\\u{2D7}\\u{2DE}-\\u{2FF}\\u{1E00}-\\u{1EFF}",Ys=new RegExp(`[${ut}]+|\\s+|[^${ut}]`,"ug"),Vt=class extends be{equals(t,n,o){return o.ignoreCase&&(t=t.toLowerCase(),n=n.toLowerCase()),t.trim()===n.trim()}tokenize(t,n={}){let o;if(n.intlSegmenter){let a=n.intlSegmenter;if(a.resolvedOptions().granularity!="word")throw new Error('The segmenter passed must have a granularity of "word"');o=Jt(t,a)}else o=t.match(Ys)||[];let s=[],r=null;return o.forEach(a=>{/\s/.test(a)?r==null?s.push(a):s.push(s.pop()+a):r!=null&&/\s/.test(r)?s[s.length-1]==r?s.push(s.pop()+a):s.push(r+a):s.push(a),r=a}),s}join(t){return t.map((n,o)=>o==0?n:n.replace(/^\s+/,"")).join("")}postProcess(t,n){if(!t||n.oneChangePerToken)return t;let o=null,s=null,r=null;return t.forEach(a=>{a.added?s=a:a.removed?r=a:((s||r)&&io(o,r,s,a,n.intlSegmenter),o=a,s=null,r=null)}),(s||r)&&io(o,r,s,null,n.intlSegmenter),t}},lo=new Vt;function Gt(e,t,n){return n?.ignoreWhitespace!=null&&!n.ignoreWhitespace?dt(e,t,n):lo.diff(e,t,n)}function io(e,t,n,o,s){if(t&&n){let[r,a]=Ie(t.value,s),[c,u]=Ie(n.value,s);if(e){let d=Ht(r,c);e.value=lt(e.value,c,d),t.value=Me(t.value,d),n.value=Me(n.value,d)}if(o){let d=Ut(a,u);o.value=it(o.value,u,d),t.value=Ue(t.value,d),n.value=Ue(n.value,d)}}else if(n){if(e){let r=Ce(n.value,s);n.value=n.value.substring(r.length)}if(o){let r=Ce(o.value,s);o.value=o.value.substring(r.length)}}else if(e&&o){let r=Ce(o.value,s),[a,c]=Ie(t.value,s),u=Ht(r,a);t.value=Me(t.value,u);let d=Ut(Me(r,u),c);t.value=Ue(t.value,d),o.value=it(o.value,r,d),e.value=lt(e.value,r,r.slice(0,r.length-d.length))}else if(o){let r=Ce(o.value,s),a=ct(t.value,s),c=Kt(a,r);t.value=Ue(t.value,c)}else if(e){let r=ct(e.value,s),a=Ce(t.value,s),c=Kt(r,a);t.value=Me(t.value,c)}}var zt=class extends be{tokenize(t){let n=new RegExp(`(\\r?\\n)|[${ut}]+|[^\\S\\n\\r]+|[^${ut}]`,"ug");return t.match(n)||[]}},co=new zt;function dt(e,t,n){return co.diff(e,t,n)}var Yt=class extends be{constructor(){super(...arguments),this.tokenize=Qs}equals(t,n,o){return o.ignoreWhitespace?((!o.newlineIsToken||!t.includes(`
`))&&(t=t.trim()),(!o.newlineIsToken||!n.includes(`
`))&&(n=n.trim())):o.ignoreNewlineAtEof&&!o.newlineIsToken&&(t.endsWith(`
`)&&(t=t.slice(0,-1)),n.endsWith(`
`)&&(n=n.slice(0,-1))),super.equals(t,n,o)}},uo=new Yt;function Ke(e,t,n){return uo.diff(e,t,n)}function Qs(e,t){t.stripTrailingCr&&(e=e.replace(/\r\n/g,`
`));let n=[],o=e.split(/(\n|\r\n)/);o[o.length-1]||o.pop();for(let s=0;s<o.length;s++){let r=o[s];s%2&&!t.newlineIsToken?n[n.length-1]+=r:n.push(r)}return n}var fo=300,Xs=.2,Qt=typeof Intl.Segmenter=="function"?new Intl.Segmenter(void 0,{granularity:"word"}):void 0;function Zs(e,t){return!e||!t?[{value:e||t,removed:!t,added:!e}]:Gt(e,t,{intlSegmenter:Qt,timeout:fo})??Ke(e,t,{timeout:fo})??null}function er(e,t,n){return e.filter(r=>!r.added&&!r.removed).reduce((r,a)=>r+a.value.trim().length,0)/Math.max(1,Math.min(t.trim().length,n.trim().length))}function tr(e){return Qt?[...Qt.segment(e)].filter(t=>t.isWordLike).length:e.split(/\s+/).filter(Boolean).length}function nr(e,t){if(e===t)return{summary:e?"Both texts are the same.":"Both texts are empty.",parts:[]};let n=Zs(e,t);if(n&&!n.some(s=>s.added||s.removed))return{summary:"Only white space differs.",parts:n};if(!n||e&&t&&er(n,e,t)<Xs)return{summary:"The texts have little in common.",parts:[{value:e,removed:!0},{value:t,added:!0}],isWhole:!0};let o=s=>n.reduce((r,a)=>r+(a[s]?tr(a.value):0),0);return{summary:`Words removed: ${o("removed")}. Words added: ${o("added")}.`,parts:n}}function or({part:e,isWhole:t}){if(!e.added&&!e.removed)return e.value;let[n,o]=e.added?["ins","added: "]:["del","removed: "];return i`<${n} class=${t?"whole":""}><span class="hidden">${o}</span>${e.value}<span class="hidden">, end. </span></${n}>`}function Se({a:e,b:t}){let n=J(()=>nr(e,t),[e,t]);return i`
    <div class="word-diff">
      <p class="note" role="status">${n.summary}</p>
      ${n.parts.length>0&&i`
        <div class="diff-text" dir="auto" tabindex="-1">
          ${n.parts.map(o=>i`<${or} part=${o} isWhole=${n.isWhole} />`)}
        </div>`}
    </div>`}var sr=new Set(["sides","comparison","ranking","items","changes"]),mo=e=>sr.has(e);function Xt({output:e,place:t,view:n}){return i`
    <section class="side" data-answer=${t}>
      <h4><bdi>${R(e.name)}</bdi></h4>
      <${_e} facts=${e.facts} />
      ${e.error&&i`<p class="error">${R(e.error)}</p>`}
      ${e.output&&i`<${X} text=${e.output} images=${e.images} mono=${e.mono} marks=${e.marks} at=${n.quote} onPick=${n.pick} label=${e.name} />`}
      ${!e.output&&!e.error&&i`<p class="note">The output is empty.</p>`}
    </section>`}function po({label:e,outputs:t,value:n,onPick:o}){return i`<label>${e} <select value=${n} onChange=${s=>o(Number(s.target.value))}>
    ${t.map((s,r)=>i`<option value=${r} selected=${r===n}>${s.name}</option>`)}
  </select></label>`}function rr(e){let t=e.findIndex(n=>n.column!==e[0].column);return[0,t<0?Math.min(1,e.length-1):t]}function ar({outputs:e,viewOf:t,areKeysOn:n}){let[[o,s],r]=w(rr(e)),[a,c]=w(!1),u=M(null),d=()=>r(([p,l])=>[l,p]);if(le({s:d,d:()=>c(p=>!p),n:()=>$o(u.current,1),N:()=>$o(u.current,-1)},n),e.length===0)return i`<p class="note">The output is not known here.</p>`;if(e.length===1)return i`<${Xt} output=${e[0]} place=${0} view=${t(0)} />`;let[f,$]=[e[o],e[s]];return i`
    <div class="pair" ref=${u}>
      <div class="pair-tools">
        ${e.length>2&&i`
          <${po} label="Left" outputs=${e} value=${o} onPick=${p=>r([p,s])} />
          <${po} label="Right" outputs=${e} value=${s} onPick=${p=>r([o,p])} />`}
        <button type="button" aria-pressed=${a} aria-keyshortcuts="d" onClick=${()=>c(!a)}>Word diff</button>
        <button type="button" aria-keyshortcuts="s" onClick=${d}>Swap sides</button>
      </div>
      ${a?i`<h4>From <bdi>${f.name}</bdi> to <bdi>${$.name}</bdi></h4><${Se} a=${f.output} b=${$.output} />`:i`<div class="pair-columns"><${Xt} output=${f} place=${o} view=${t(o)} key=${o} /><${Xt} output=${$} place=${s} view=${t(s)} key=${`right-${s}`} /></div>`}
    </div>`}function $o(e,t){let n=[...e?.querySelectorAll("ins, del")??[]];if(n.length===0)return;let o=n.findIndex(r=>r.classList.contains("current")),s=n[(o+t+n.length)%n.length];n[o]?.classList.remove("current"),s.classList.add("current"),s.tabIndex=-1,s.focus(),s.scrollIntoView({block:"nearest"})}function ir({point:e}){return i`<li><span dir="auto">${e.text}</span>
    ${e.quote&&i` <q dir="auto">${e.quote}</q>`}
    ${e.after&&i`<${Se} a=${e.before} b=${e.after} />`}</li>`}function lr(e){let t=new Map,n=(o,s)=>t.set(o,[...t.get(o)??[],s]);for(let[o,s]of e.entries()){for(let r of s.opinions)for(let a of r.rows){let c=a.tone==="error"?a.tone:r.tone;n(r.title,{row:{...a,who:s.name,tone:c},exchanges:s.exchanges,place:o})}for(let r of s.checks){let a=r.actual===null?[]:[r.actual];n(r.type,{row:{who:s.name,score:r.word,tone:r.tone,facts:a,rationale:r.message,quotes:[]},place:o})}}return[...t].map(([o,s])=>({title:o,result:"",rows:s}))}function ho({index:e,row:t,body:n,areKeysOn:o=!0}){let[s,r]=w({}),[a,c]=w(!1);le({p:()=>c($=>!$)},o);let u=t.opinions?t.opinions.map($=>({...$,rows:$.rows.map(p=>({row:p,exchanges:t.exchanges}))})):lr(t.answers),d=$=>t.opinions?void 0:$,f=$=>({quote:s.place===d($)?s.no:null,pick:p=>{r({place:d($),no:p});let l=t.opinions?"":`[data-answer="${$}"] `;n.current.querySelector(`${l}mark[data-quotes~="${p}"]`)?.scrollIntoView({block:"nearest"})},isPromptOpen:a,omitted:e.omitted.replies});return i`
    <div class="pair-body">
      ${t.texts.map($=>i`
        <details open=${$.title==="input"}><summary>${$.title}</summary><${X} text=${$.text} images=${$.images} mono=${$.mono} label=${$.title} /></details>`)}
      <h3>${t.answers.length>1?"Outputs":"Output"}</h3>
      <${ar} outputs=${t.answers} viewOf=${f} areKeysOn=${o} key=${t.id} />
      ${u.length>0&&i`<h3>Judgments</h3>`}
      ${u.map($=>i`
        <section class="group">
          <h4><bdi>${R($.title)}</bdi></h4>
          ${$.result&&i`<p class="result">${R($.result)}</p>`}
          <div class="pair-columns">${$.rows.map(p=>i`<${at} row=${p.row} exchanges=${p.exchanges} view=${f(p.place)} />`)}</div>
        </section>`)}
      ${(t.points??[]).map($=>i`
        <h3>${R($.title)}</h3>
        <ul>${$.points.map(p=>i`<${ir} point=${p} />`)}</ul>`)}
    </div>`}function cr(e,t){let[n,o]=w(null);return D(()=>{let s=!0;return Tn(e,t).then(r=>s&&o({place:t,row:r}),r=>s&&o({place:t,error:r})),()=>{s=!1}},[e,t]),n?.place===t?n:null}function go({index:e,row:t,at:n,onChoose:o,isBeside:s}){if(t.answers.length===1)return null;let a=d=>[e.columns[d.column],d.round].filter(Boolean).join(", "),c=[...t.answers.keys()];return i`<div class="tabs"><div role="tablist" aria-label="Answers" onKeyDown=${d=>{let f={ArrowLeft:-1,ArrowRight:1}[d.key];if(!f)return;d.preventDefault(),d.stopPropagation();let $=(n+f+c.length)%c.length;o($),d.currentTarget.querySelectorAll("[role=tab]")[$].focus()}}>
    ${t.answers.map((d,f)=>{let{sign:$,tone:p,label:l}=e.states[d.state],h=!s&&f===n;return i`<button type="button" role="tab" id=${`tab-${f}`} aria-controls="answer" aria-selected=${h}
        tabindex=${f===n?0:-1} onClick=${()=>o(f)}>
        <span class=${p} aria-hidden="true">${$}</span> <bdi>${a(d)}</bdi>
        <span class="hidden">, ${l}</span>${d.value&&i`<span class="dim"> ${d.value}</span>`}</button>`})}</div>
    <button type="button" aria-pressed=${s} onClick=${()=>o(n,!s)}>Side by side</button></div>`}function _o({label:e,row:t,index:n,value:o,onChoose:s}){return i`<label class="choice"><span>${e}</span><select value=${o} onChange=${r=>s(Number(r.target.value))}>
    ${t.answers.map((r,a)=>i`<option value=${a} selected=${a===o}>${n.columns[r.column]}${r.round&&`, ${r.round}`}</option>`)}
  </select></label>`}function ur({index:e,row:t,questions:n,a:o,b:s,onChoose:r}){let[a,c]=[t.answers[o],t.answers[s]],u=[...new Set([...a.opinions,...c.opinions].map(l=>l.title))],d=(l,h)=>l.opinions.find(g=>g.title===h),f=(l,h)=>{let g=d(l,h);return g?.result?i`<${ce} tone=${g.tone}>${g.result}<//>`:"–"},$=(l,h)=>d(l,h)?.rows.map(g=>i`<p dir="auto">${R(g.rationale)}</p>`),p=l=>e.states[l.state];return i`<div class="beside">
    <div class="choices">
      <${_o} label="from" row=${t} index=${e} value=${o} onChoose=${l=>r(l,s)} />
      <${_o} label="to" row=${t} index=${e} value=${s} onChoose=${l=>r(o,l)} />
    </div>
    <h3>output</h3>
    <${Se} a=${a.output} b=${c.output} />
    <h3>judgments</h3>
    <div class="wide"><table class="pair"><thead><tr><th scope="col">criterion</th>${[a,c].map(l=>i`<th scope="col"><bdi>${e.columns[l.column]}</bdi> ${l.round}</th>`)}</tr></thead>
      <tbody><tr><th scope="row">verdict</th>${[a,c].map(l=>i`<td><${ce} tone=${p(l).tone}>${p(l).label} ${l.value??""}<//></td>`)}</tr>
      ${u.map(l=>i`<tr><th scope="row" title=${n[l]??null}><bdi>${R(l)}</bdi></th>
        ${[a,c].map(h=>i`<td>${f(h,l)}${$(h,l)}</td>`)}</tr>`)}</tbody></table></div>
  </div>`}var dr=["reference","context"];function fr({index:e,row:t,state:n,change:o,body:s,areKeysOn:r}){let a={...e.questions,...t.questions},c=n.answer??n.variant,u=S=>[e.columns[t.answers[S].column],t.answers[S].round].filter(Boolean).join(", ").replace(new RegExp("\\p{Cs}","gu"),"�"),d=[...t.answers.keys()],f=S=>{let v=d.findIndex(q=>u(q)===S);return v>=0?v:d.findLastIndex(q=>e.columns[t.answers[q].column]===S)},$=Math.max(0,f(c)),p=f(n.with),l=t.answers[$],[h,g]=w(null),[k,x]=w(!1),_=ie("(max-width: 60rem)"),[b,C]=w("texts");D(()=>g(null),[t,$]);let L=J(()=>l?[...l.marks,...l.steps?.marks??[]].map(S=>S.no):[],[l]),O=(S,v,q=()=>{})=>{C(S),requestAnimationFrame(()=>requestAnimationFrame(()=>{let ne=s.current?.querySelector(v);ne?.scrollIntoView({block:"nearest"}),ne&&q(ne)}))},W=S=>(g(S),O("texts",`mark[data-quotes~="${S}"]`)),P=S=>(g(S),O("judgments",`li[data-quote="${S}"]`)),m=(S,v=!1)=>o({answer:u(S),with:v?u((S+1)%d.length):""}),y=S=>()=>d.length>1&&p<0&&m(($+S+d.length)%d.length);le({ArrowLeft:y(-1),ArrowRight:y(1),e:()=>L.length>0&&W(L[(L.indexOf(h)+1)%L.length]),r:()=>O("texts",'[data-text="reference"]',S=>S.querySelector(".passage").focus()),p:()=>{x(!k),O("judgments",".exchange")}},r);let E=e.omitted.replies??"",j={quote:h,isPromptOpen:k,omitted:E},N=S=>t.texts.filter(v=>dr.includes(v.title)===S).map(v=>i`<section data-text=${v.title} class="given"><h3>${v.title}</h3>
      <${X} text=${v.text} images=${v.images} mono=${v.mono} label=${v.title} /></section>`);return p>=0&&p!==$?i`<${go} index=${e} row=${t} at=${$} onChoose=${m} isBeside />
      <div id="answer"><${ur} index=${e} row=${t} questions=${a} a=${$} b=${p}
        onChoose=${(S,v)=>o({answer:u(S),with:u(S===v?(S+1)%d.length:v)})} />${N(!1)}${N(!0)}</div>`:i`<${go} index=${e} row=${t} at=${$} onChoose=${m} isBeside=${!1} />
    ${l&&i`<div class="verdict"><${ce} tone=${e.states[l.state].tone}>
      ${e.states[l.state].label} ${l.value??""}<//> <${_e} facts=${[l.round,...l.facts].filter(Boolean)} /></div>`}
    ${_&&i`<div class="parts" role="group" aria-label="Show">${[["texts","Output and texts"],["judgments","Judgments"]].map(([S,v])=>i`<button type="button" aria-pressed=${b===S} onClick=${()=>C(S)}>${v}</button>`)}</div>`}
    <div class="columns" id="answer" role=${d.length>1?"tabpanel":null} aria-labelledby=${d.length>1?`tab-${$}`:null}>
      ${(!_||b==="texts")&&i`<div>${N(!1)}${l&&i`<${so} answer=${l} view=${{...j,pick:P}} />`}
        ${N(!0)}${l?.trace.length>0&&i`<h3>trace</h3><${ao} trace=${l.trace} />`}</div>`}
      ${l&&(!_||b==="judgments")&&i`<div><${ro} answer=${l} questions=${a} view=${{...j,pick:W}} /></div>`}
    </div>`}function bo({index:e,place:t,rows:n,state:o,change:s,onClose:r,onMove:a,areKeysOn:c,onHelp:u}){let d=cr(e,t),f=M(null),[$,p]=w(""),l=n.indexOf(t),h=e.ids[t];D(()=>{p(""),f.current&&(f.current.scrollTop=0)},[t]);let g=qt({...o,case:h}),k=async()=>{try{await navigator.clipboard.writeText(g),p("Link copied.")}catch{p(`The browser does not allow copying; the link is ${g}`)}};le({"[":()=>a(-1),"]":()=>a(1),j:()=>a(1),k:()=>a(-1),c:()=>{k()},"?":u},c);let x=mo(e.kind)?ho:fr;return i`<${Ft} label=${`Case ${h}`} className="drawer" onClose=${r}>
    <div class="inside">
      <header>
        <h2><bdi>${h}</bdi></h2>
        <div class="actions">
          <button type="button" onClick=${()=>a(-1)} disabled=${l<=0} aria-label="Previous case" title="Previous case ([)">‹</button>
          <span class="dim">${l>=0?`${(l+1).toLocaleString("en")} of ${n.length.toLocaleString("en")}`:"filtered out"}</span>
          <button type="button" onClick=${()=>a(1)} disabled=${l>=n.length-1} aria-label="Next case" title="Next case (])">›</button>
          <button type="button" onClick=${k} title="Copy a link to this case (c)">Copy link</button>
          <button type="button" onClick=${u} aria-label="Keyboard shortcuts" title="Keyboard shortcuts (?)">?</button>
          <button type="button" onClick=${r} aria-label="Close" title="Close (Esc)">✕</button>
        </div>
        <p role="status" class="notice">${$}</p>
      </header>
      <div class="body" ref=${f} aria-busy=${d===null}>
        ${d?.error&&i`<p class="fail">This case cannot be shown: ${d.error.message}. Reload the page; if that does not help, write it again.</p>`}
        ${d?.row&&i`<${_e} facts=${d.row.facts??[]} />
          <${x} key=${t} index=${e} row=${d.row} state=${o} change=${s} body=${f} areKeysOn=${c} />`}
      </div>
    </div>
  <//>`}var pr=[["?","this list"],["/","search; Enter goes to the first case found"],["j k","next, previous row"],["← →","variant"],["Enter","open the case"],["1 … 5","filters: all, then as listed"],["Esc","close"],["[ ]","in a case: previous, next case"],["e","in a case: next piece of evidence"],["r","in a case: reference"],["p","in a case: prompt and reply of the judge"],["c","in a case: copy a link to it"]];function vo({index:e}){let[t,n]=Un(),o=Jn(e,t.q),s=Vn(e,t,o.hits),{rows:r}=s,a=J(()=>new Map(e.ids.map((S,v)=>[S,v])),[e]),c=t.case===void 0?void 0:a.get(t.case),[{active:u},d]=w({active:-1}),[f,$]=w(-1),p=M({row:-1,column:-1}),l=S=>{p.current.row=S,d({active:S})},[h,g]=w(!1),[k,x]=to(),_=M(null),b=J(()=>{let S=new Set(e.cells.flatMap(v=>[...new Set(v.state)]));return e.states.filter((v,q)=>S.has(q))},[e]),C=M(-1),L=S=>{if(r.length===0)return;let v=Math.min(r.length-1,Math.max(0,S));C.current=v,l(v)},O=(S,v)=>n({case:e.ids[S],answer:v??e.columns[p.current.column]??"",with:""},{push:!0}),W=()=>{history.state?.pushed?history.back():n({case:"",answer:"",with:""})},P=S=>{let v=r.indexOf(a.get(Ae().case)),q=r[v<0?0:v+S];q!==void 0&&n({case:e.ids[q],with:""})},m=M(c);D(()=>{m.current!==void 0&&c===void 0&&L(r.indexOf(m.current)),m.current=c},[c]),D(()=>l(Math.min(p.current.row,r.length-1)),[r]);let y=S=>()=>n({state:S},{push:!0}),E=S=>()=>{let v=e.columns.length,q=p.current.column;return p.current.column=q<0?S>0?0:v-1:(q+S+v)%v,$(p.current.column),!0},j=c===void 0&&!h;le({"?":()=>g(!0),"/":()=>_.current.focus(),j:()=>L(p.current.row+1),k:()=>L(p.current.row-1),1:y(""),...Object.fromEntries(e.filters.slice(0,8).map((S,v)=>[v+2,y(S.key)]))},j&&k);let N=()=>document.activeElement?.closest?.("tr[data-row]")!==null;return le({ArrowDown:()=>N()&&(L(p.current.row+1),!0),ArrowUp:()=>N()&&(L(p.current.row-1),!0),ArrowLeft:()=>N()&&E(-1)(),ArrowRight:()=>N()&&E(1)(),Enter:()=>document.activeElement?.matches?.("tr[data-row] a")&&(O(r[p.current.row]),!0)},j),i`
    <p class="legend note">${b.map(({label:S,sign:v,tone:q})=>i`<span><span class=${q} aria-hidden="true">${v}</span> ${S}</span>`)}</p>
    <${Yn} index=${e} state=${t} change=${n} selection=${s} search=${o}
      searchBox=${_} onFound=${()=>L(0)} onHelp=${()=>g(!0)} />
    ${t.case!==void 0&&c===void 0&&i`<p class="fail" role="alert">There is no case “${t.case}” on this page.</p>`}
    <${Zn} index=${e} rows=${r} state=${t} change=${n} active=${u} setActive=${l}
      column=${f} openRow=${O} focusing=${C} />
    ${c!==void 0&&i`<${bo} index=${e} place=${c} rows=${r} state=${t} change=${n}
      onClose=${W} onMove=${P} areKeysOn=${k&&!h} onHelp=${()=>g(!0)} />`}
    ${h&&i`<${no} rows=${pr} isOn=${k} setOn=${x} onClose=${()=>g(!1)} />`}
  `}function $r(e){if(e.scrollWidth>e.clientWidth)e.tabIndex=0,e.setAttribute("role","group"),e.setAttribute("aria-label",mr(e));else for(let t of["tabindex","role","aria-label"])e.removeAttribute(t)}function mr(e){for(let t=e;t&&t.id!=="main";t=t.parentElement)for(let n=t.previousElementSibling;n;n=n.previousElementSibling)if(/^H[1-6]$/.test(n.tagName))return n.textContent;return e.querySelector("th, figcaption, svg")?.textContent||document.title}function yo(){let e=new ResizeObserver(t=>t.forEach(n=>$r(n.target)));for(let t of document.querySelectorAll(".wide"))e.observe(t)}var Z=null,Ee=null,Je=0;function hr(){return Z||(Z=document.createElement("div"),Z.id="tip",Z.className="tip",Z.setAttribute("role","tooltip"),Z.popover="manual"),Z}function gr(e){let t=e.getBoundingClientRect(),{width:n,height:o}=Z.getBoundingClientRect(),s=Math.min(Math.max(6,t.left),Math.max(6,innerWidth-n-6)),r=t.bottom+6,a=r+o>innerHeight&&t.top>o+6?t.top-o-6:r;Z.style.left=`${s}px`,Z.style.top=`${a}px`}function Zt(e){if(clearTimeout(Je),Ee===e)return;je(),Ee=e;let t=hr();t.textContent=e.dataset.tip,(e.closest("dialog[open], main")??document.body).append(t),t.showPopover(),gr(e),e.ariaLabel!==e.dataset.tip&&e.setAttribute("aria-describedby",t.id)}function je(){clearTimeout(Je),Ee&&(Ee.removeAttribute("aria-describedby"),Ee=null,Z.matches(":popover-open")&&Z.hidePopover())}function ft(e){let t=e instanceof Element?e.closest("[data-tip], .term[title], td[title], th[title]"):null;return t?.title&&(t.dataset.tip=t.title,t.removeAttribute("title")),t}function wo(e=document){for(let t of e.querySelectorAll(".term[title]"))ft(t),t.tabIndex=0;for(let t of e.querySelectorAll("[data-tip] > * > title"))t.remove()}document.addEventListener("pointerover",e=>{if(e.pointerType==="touch")return;let t=ft(e.target);t?Zt(t):Z?.contains(e.target)?clearTimeout(Je):Ee&&(clearTimeout(Je),Je=setTimeout(je,200))});document.addEventListener("focusin",e=>{let t=ft(e.target);t&&Zt(t)});document.addEventListener("focusout",je);document.addEventListener("click",e=>{let t=ft(e.target);t?Zt(t):je()});document.addEventListener("keydown",e=>{e.key==="Escape"&&Ee&&(je(),e.stopImmediatePropagation(),e.preventDefault())},!0);document.addEventListener("scroll",je,{capture:!0,passive:!0});function ko(e){for(let t of e.querySelectorAll(".text-change")){let[n,o]=[...t.querySelectorAll("pre")].map(s=>s.textContent);t.replaceChildren(),ee(i`<${Se} a=${n} b=${o} />`,t)}}var Te=class extends Error{constructor(t,n,o=null){super(t),this.status=n,this.reply=o}};function en(){return xo()!==void 0}function xo(){return document.querySelector('meta[name="judgekit-token"]')?.content}async function te(e,t){if(!en())throw new Te("This page can change nothing: it is for reading only.",0);let n;try{n=await fetch(e,{method:"POST",headers:{"content-type":"application/json","x-judgekit-token":xo()},body:JSON.stringify(t)})}catch{throw new Te("judgekit view does not answer. Is it still running?",0)}let o=await n.text(),r=n.headers.get("content-type")?.startsWith("application/json")?JSON.parse(o):null;if(!n.ok)throw new Te(r?.error??o,n.status,r);return r}var pt=20;function Co({path:e,text:t,problems:n,isReadOnly:o,target:s,onInput:r}){let a=M(null),c=M(null),[u,d]=w({top:0,height:600}),f=()=>a.current&&d({top:a.current.scrollTop,height:a.current.clientHeight});Y(()=>{a.current.value!==t&&(a.current.value=t)},[t]),D(()=>{let g=new ResizeObserver(f);return g.observe(a.current),()=>g.disconnect()},[]),Y(()=>{c.current.style.transform=`translateY(${-(u.top%pt)}px)`},[u]),D(()=>{if(!s)return;let g=t.split(`
`),k=g.slice(0,s.line-1).reduce((x,_)=>x+_.length+1,0);a.current.focus(),a.current.setSelectionRange(k,k+(g[s.line-1]??"").length),a.current.scrollTop=Math.max(0,(s.line-4)*pt),a.current.scrollLeft=0,f()},[s]);let $=new Map;for(let g of n){let k=$.get(g.line);$.set(g.line,{severity:k?.severity==="error"?"error":g.severity,words:k?`${k.words}
${g.message}`:g.message})}let p=t.split(`
`).length,l=Math.floor(u.top/pt),h=Math.min(p-l,Math.ceil(u.height/pt)+1);return i`
    <div class="ed-text">
      <div class="ed-gutter" aria-hidden="true">
        <div ref=${c}>
          ${Array.from({length:Math.max(0,h)},(g,k)=>{let x=l+k+1,_=$.get(x),b=_&&(_.severity==="error"?"✗":"!");return i`<div class=${_?`ed-${_.severity}`:""} title=${_?.words}>${b} ${x}</div>`})}
        </div>
      </div>
      <textarea ref=${a} wrap="off" spellcheck=${!1} autocomplete="off" aria-label=${`Text of ${e}`}
        readOnly=${o} onScroll=${f} onInput=${g=>r(g.target.value)} />
    </div>`}var _r=400,So=90,tn=500,br={assertions:[],scorers:[],variants:[],suites:[],needs:[],examples:[],tags:[],stratum:"",metadata:{},evaluation:{},judge:{},gate:{},settings:{},compare:{},prices:{},columns:{},panel:{}};function vr(e,t){let[n,o]=w(e),s=M({draft:e,value:e,timer:0});s.current.commit=t,D(()=>{s.current.draft===s.current.value&&o(s.current.draft=e),s.current.value=e},[e]);let r=()=>{clearTimeout(s.current.timer),s.current.draft!==s.current.value&&(s.current.value=s.current.draft,s.current.commit(s.current.draft))};return D(()=>r,[]),[n,c=>{o(s.current.draft=c),clearTimeout(s.current.timer),s.current.timer=setTimeout(r,_r)},r]}function To(e,t){let[n,o]=w(e);return D(()=>o(e),[e]),[n,async r=>{o(r),await t(r)||o(e)}]}function ue({label:e,value:t,onCommit:n,lines:o=1,hint:s="",problem:r="",type:a="text"}){let c=ge(),[u,d,f]=vr(t,n),$=M(null),p=Math.min(16,Math.max(o,u.split(`
`).length)),l=r||s?`${c}-about`:null,h={id:c,value:u,"aria-describedby":l,"aria-invalid":r?"true":null,onInput:g=>d(g.target.value),onBlur:f};return i`
    <div class="ed-field">
      <label for=${c}>${e}</label>
      ${o===1?i`<input type=${a} ref=${$} ...${h} />`:i`<textarea rows=${p} ...${h} />`}
      ${l&&i`<p id=${l} class=${r?"fail":"note"}>${r||s}</p>`}
    </div>`}function yr({label:e,value:t,onCommit:n,hint:o}){let[s,r]=w(""),a=JSON.stringify(t,null,2),c=u=>{let d;try{d=JSON.parse(u)}catch(f){r(`Not in the file yet, for it is not JSON: ${f.message}`);return}r(""),n(d)};return i`<${ue} label=${`${e} (JSON)`} value=${a} lines=${2} problem=${s} hint=${o} onCommit=${c} />`}function Pe({label:e,value:t,lines:n,onCommit:o,onRemove:s,hint:r}){return t!=null&&typeof t!="string"?i`<${yr} label=${e} value=${t} onCommit=${o} hint=${r} />`:i`<${ue} label=${e} value=${t??""} lines=${n} onCommit=${c=>c===""&&s?s():o(c)} hint=${r} />`}function $t({label:e,value:t,onCommit:n,onRemove:o,hint:s}){let[r,a]=w(""),c=u=>{let d=u.trim(),f=d!==""&&Number.isFinite(Number(d));a(f||d===""&&o?"":"Not in the file yet: a number is needed."),f?n(Number(d)):d===""&&o&&o()};return i`<${ue} label=${e} value=${t==null?"":String(t)}
    problem=${r} hint=${s} onCommit=${c} />`}function nn({data:e,known:t,where:n,change:o,noun:s}){let[r,a]=w(""),c=ge(),u=Object.keys(e).filter($=>!t.includes($)),d=r.trim(),f=async()=>{d&&!(d in e)&&await o("set",[...n,d],br[d]??"")&&a("")};return i`
    ${u.map($=>i`
      <div class="ed-other" key=${$}>
        <${Pe} label=${$} value=${e[$]??void 0} lines=${1}
          onCommit=${p=>o("set",[...n,$],p)} />
        <button onClick=${()=>o("remove",[...n,$])} aria-label=${`Remove ${$}`} title="Remove">×</button>
      </div>`)}
    <div class="ed-add">
      <label for=${c}>Further field of the ${s}</label>
      <input id=${c} value=${r} onInput=${$=>a($.target.value)}
        onKeyDown=${$=>$.key==="Enter"&&f()} />
      <button onClick=${f} disabled=${!d||d in e}>Add field</button>
    </div>`}function Po({noun:e,n:t,place:n,where:o,change:s,onPlace:r,blank:a,copyName:c,isReadOnly:u}){let d=async($,p,l,h)=>{await s($,[...o,p],l)&&r(h)},f=async()=>{if(!await s("copy",[...o,n]))return;let[$,p]=c(n);await s("set",[...o,n+1,$],p),r(n+1)};return u?null:i`
    <fieldset class="ed-tools" aria-label=${`Change the list of ${e==="criterion"?"criteria":"cases"}`}>
      <button onClick=${()=>d("insert",t?n:-1,a(),t?n+1:0)}>Add</button>
      <button disabled=${!t} onClick=${f}>Duplicate</button>
      <button disabled=${n<1} onClick=${()=>d("move",n,-1,n-1)} aria-label="Move up">↑</button>
      <button disabled=${n>=t-1} onClick=${()=>d("move",n,1,n+1)} aria-label="Move down">↓</button>
      <button disabled=${!t} onClick=${()=>d("remove",n,null,Math.max(0,Math.min(n,t-2)))}>Delete</button>
    </fieldset>`}function Oo({label:e,items:t,place:n,onPlace:o}){let s=M(null);return i`
    <ul class="ed-items" ref=${s} aria-label=${e} onKeyDown=${a=>{let c={ArrowDown:1,ArrowUp:-1}[a.key];if(!c)return;a.preventDefault();let u=[...s.current.querySelectorAll("button")],d=u[u.indexOf(document.activeElement)+c];d?.focus(),d?.click()}}>
      ${t.map(a=>i`
        <li key=${a.place}>
          <button aria-current=${a.place===n?"true":null} onClick=${()=>o(a.place)}>
            <strong><bdi>${a.name}</bdi></strong>
            ${a.tags?.map(c=>i`<span class="ed-tag"><bdi>${c}</bdi></span>`)}
            <span class="note" dir="auto">${a.words}</span>
          </button>
        </li>`)}
    </ul>`}function Lo(e){let t=typeof e=="string"?e:JSON.stringify(e)??"";return t.length>So?`${t.slice(0,So)}…`:t}function mt(e,t){for(let n=2;;n++)if(!t.includes(`${e}-${n}`))return`${e}-${n}`}function Eo(e){return Array.isArray(e)?e.filter(t=>typeof t=="string"):[]}function Ao({file:e,caseId:t,onCase:n,change:o,isReadOnly:s}){let[r,a]=w(""),[c,u]=w(null),d=ge(),f=e.cases_at,$=(f.length?e.data[f[0]]:e.data).map(m=>m&&typeof m=="object"&&!Array.isArray(m)?m:{}),p=(m,y)=>Object.keys(e.aliases).find(E=>e.aliases[E]===y&&E in m&&!(y in m))??y,l=$.map(m=>String(m[p(m,"id")]??"")),h=t===null?0:Math.max(0,l.indexOf(t)),g=Math.min(c&&l[c.place]===(c.id??l[c.place])?c.place:h,Math.max(0,$.length-1)),k=m=>{u({place:m}),n(l[m]??null)},x=m=>m[p(m,"input")],_=r.trim().toLowerCase(),b=$.map((m,y)=>({place:y,name:l[y]||"(no id)",words:Lo(x(m)),tags:Eo(m.tags)})).filter(m=>!_||`${m.name} ${m.words} ${m.tags.join(" ")}`.toLowerCase().includes(_)),C=$[g],L=[...f,g],O=m=>y=>o("set",[...L,m],y),W=m=>m in C?()=>o("remove",[...L,m]):null,P=["tags",...["id","input","reference","context"].map(m=>C?p(C,m):m)];return i`
    <div class="ed-list">
      <div class="ed-field">
        <label for=${d}>Find a case</label>
        <input id=${d} type="search" value=${r} onInput=${m=>a(m.target.value)} />
      </div>
      <p class="note" role="status">${b.length===$.length?`${$.length} cases`:`${b.length} of ${$.length} cases`}${b.length>tn?`, the first ${tn} are listed`:""}</p>
      <${Po} noun="case" n=${$.length} place=${g} where=${f} change=${o} isReadOnly=${s} onPlace=${m=>u({place:m})}
        blank=${()=>({id:mt("case",l),input:""})} copyName=${m=>["id",mt(l[m],l)]} />
      <${Oo} label="Cases" items=${b.slice(0,tn)} place=${g} onPlace=${k} />
    </div>
    ${C&&i`
      <fieldset class="ed-fields" disabled=${s} aria-label=${`Case ${l[g]}`} key=${`${g} of ${$.length}`}>
        <p class="note">Line ${e.lines[g]}</p>
        <${ue} label="id" value=${l[g]} hint="Names results and stored judgments."
          onCommit=${async m=>{await o("set",[...L,p(C,"id")],m)&&(u({place:g}),n(m))}} />
        <${Pe} label=${p(C,"input")} value=${x(C)} lines=${5} onCommit=${O(p(C,"input"))} />
        ${["reference","context"].map(m=>i`
          <${Pe} key=${m} label=${p(C,m)} value=${C[p(C,m)]} lines=${3}
            onCommit=${O(p(C,m))} onRemove=${W(p(C,m))} />`)}
        <${ue} label="tags" value=${Eo(C.tags).join(", ")} hint="Separated by commas."
          onCommit=${m=>O("tags")(m.split(",").map(y=>y.trim()).filter(Boolean))} />
        <${nn} data=${C} known=${P} where=${L} change=${o} noun="case" />
      </fieldset>`}`}var wr=["name","question","scoring_guide","scale","weight","required","pass_value"];function Mo({data:e,change:t,isReadOnly:n}){let[o,s]=w(0),r=e.criteria.map(l=>l&&typeof l=="object"?l:{}),a=Math.min(o,Math.max(0,r.length-1)),c=r.map(l=>String(l.name??"")),u=r[a],d=["criteria",a],f=l=>h=>t("set",[...d,l],h),$=l=>l in u?()=>t("remove",[...d,l]):null,p=l=>h=>t("set",[l],h);return i`
    <div class="ed-list">
      <fieldset disabled=${n} aria-label="Rubric">
      <${ue} label="Name of the rubric" value=${String(e.name??"")} onCommit=${p("name")} />
      <${$t} label="pass_threshold" value=${e.pass_threshold} hint="The least overall value that passes, 0 to 1."
        onCommit=${p("pass_threshold")} onRemove=${"pass_threshold"in e?()=>t("remove",["pass_threshold"]):null} />
      </fieldset>
      <${Po} noun="criterion" n=${r.length} place=${a} where=${["criteria"]} change=${t} isReadOnly=${n} onPlace=${s}
        blank=${()=>({name:mt("criterion",c),question:""})} copyName=${l=>["name",mt(c[l],c)]} />
      <${Oo} label="Criteria" items=${r.map((l,h)=>({place:h,name:c[h]||"(no name)",words:Lo(l.question??"")}))}
        place=${a} onPlace=${s} />
    </div>
    ${u&&i`
      <fieldset class="ed-fields" disabled=${n} aria-label=${`Criterion ${c[a]}`} key=${`${a} of ${r.length}`}>
        <${ue} label="name" value=${c[a]} onCommit=${f("name")} />
        <${Pe} label="question" value=${u.question} lines=${3} onCommit=${f("question")} />
        <${xr} scale=${u.scale} where=${[...d,"scale"]} change=${t} />
        <${Pe} label="scoring_guide" value=${u.scoring_guide} lines=${3} onCommit=${f("scoring_guide")} onRemove=${$("scoring_guide")} />
        <div class="ed-row">
          <${$t} label="weight" value=${u.weight} hint="Its share in the overall value; 1 if missing." onCommit=${f("weight")} onRemove=${$("weight")} />
          <${$t} label="pass_value" value=${u.pass_value} hint="The least value that passes, 0 to 1." onCommit=${f("pass_value")} onRemove=${$("pass_value")} />
          <${kr} label="required" value=${u.required===!0} onCommit=${f("required")} />
        </div>
        <${nn} data=${u} known=${wr} where=${d} change=${t} noun="criterion" />
      </fieldset>`}`}function kr({label:e,value:t,onCommit:n}){let[o,s]=To(t,n);return i`<label class="ed-check"><input type="checkbox" checked=${o}
    onChange=${r=>s(r.target.checked)} /> ${e}</label>`}function xr({scale:e,where:t,change:n}){return Array.isArray(e)&&e.every(s=>s&&typeof s=="object"&&"value"in s)?i`
    <fieldset class="ed-levels">
      <legend>scale</legend>
      ${e.map((s,r)=>i`
        <div class="ed-level" key=${`${r} of ${e.length}`}>
          <${$t} label=${`Value ${r+1}`} value=${s.value} onCommit=${a=>n("set",[...t,r,"value"],a)} />
          <${ue} label="Anchor" value=${String(s.description??"")} lines=${2} onCommit=${a=>n("set",[...t,r,"description"],a)} />
          <button aria-label=${`Remove level ${s.value}`} title="Remove" disabled=${e.length<3} onClick=${()=>n("remove",[...t,r])}>×</button>
        </div>`)}
      <button onClick=${()=>n("insert",[...t,e.length-1],{value:Cr(e),description:""})}>Add level</button>
    </fieldset>`:i`<${Pe} label="scale" value=${e} lines=${1} onCommit=${s=>n("set",t,s)}
      hint='The name of a scale, such as likert5; or JSON: a list of levels, each with a value and a description.' />`}function Cr(e){let t=e.map(o=>Number(o.value)).filter(Number.isFinite),n=t.at(-1)??0;return t.length>1&&t[0]>n?n-1:n+1}var Sr=["name","dataset","rubric","profile","cases"];function Io({data:e,profiles:t,change:n,isReadOnly:o}){let s=u=>d=>n("set",[u],d),r=u=>u in e?()=>n("remove",[u]):null,[a,c]=To(e.profile??"",u=>u?n("set",["profile"],u):n("remove",["profile"]));return i`
    <fieldset class="ed-fields" disabled=${o} aria-label="Suite">
      <${ue} label="name" value=${String(e.name??"")} onCommit=${s("name")} />
      ${["dataset","rubric"].map(u=>i`
        <${Pe} key=${u} label=${u} value=${e[u]} lines=${1} onCommit=${s(u)} onRemove=${r(u)} />`)}
      <fieldset class="ed-profiles">
        <legend>profile</legend>
        <p class="note">The kind of skill. It sets how a case without an evaluation of its own is evaluated: the first strategy whose expectation the case has.</p>
        <div class="wide"><table>
          <thead><tr><th scope="col">profile</th><th scope="col">strategies</th><th scope="col">threshold</th><th scope="col">rubric</th></tr></thead>
          <tbody>
            ${[{name:"",strategies:"assertions, and the rubric if there is a judge",threshold:"–",rubric:null},...t].map(u=>i`
              <tr key=${u.name}>
                <th scope="row"><label class="ed-check"><input type="radio" name="profile" value=${u.name}
                  checked=${a===u.name} onChange=${()=>c(u.name)} /> ${u.name||"none"}</label></th>
                <td>${u.strategies}</td><td>${u.threshold}</td><td>${u.rubric??"–"}</td>
              </tr>`)}
          </tbody>
        </table></div>
      </fieldset>
      <${nn} data=${e} known=${Sr} where=${[]} change=${n} noun="suite" />
    </fieldset>`}var Er=600,ht="\0typed",jo=new Set(["suite","rubric","cases","template","partial","outputs"]);function Do({path:e,file:t,listing:n,caseId:o,onCase:s,isReadOnly:r}){let a=n.files.filter(y=>y.kind==="suite").map(y=>y.path),[c,u]=w(a.includes(e)?e:a[0]),[d,f]=w(null),[$,p]=w(""),[l,h]=w(""),[g,k]=w(null),[x,_]=w(""),b=M(0),C=d===ht,L={case_id:o,variant:C?null:d,output:C?$:null,model:l.trim()||null},O={path:e,text:t.text,suite:c,settings:L},W=JSON.stringify(O),P=async y=>{try{let E=await te("/api/edit/preview",O);if(y!==b.current)return;E.error||k({...E,key:W}),_(E.error??"")}catch(E){if(y!==b.current)return;_(E.message)}};if(D(()=>{let y=++b.current;if(!c||!jo.has(t.kind))return;let E=setTimeout(()=>P(y),g||x?Er:0);return()=>clearTimeout(E)},[W,t.kind]),!jo.has(t.kind))return null;if(!c)return i`<aside class="ed-preview" aria-label="Preview"><h2>Preview</h2>
      <p class="note">Prompts are shown with a suite, which names the judge: there is none in this folder. <code>judgekit init</code> makes one.</p></aside>`;let m=g?.key===W;return i`
    <aside class="ed-preview" aria-label="Preview" aria-busy=${!m&&!x}>
      <h2>What the judge reads</h2>
      <div class="ed-choices">
        ${a.length>1&&i`<${on} label="Suite" value=${c} options=${a} onChoose=${u} />`}
        ${g&&i`
          <${on} label="Case" value=${g.case_id} options=${g.cases} onChoose=${s} />
          <${on} label="Output" value=${d??g.variant??ht} onChoose=${f}
            options=${[...g.variants,ht]} names=${{[ht]:"typed here"}} />
          <${Tr} judges=${g.judges} model=${l} onModel=${h} />`}
      </div>
      ${C&&i`<${Pr} text=${$} onText=${p} />`}
      ${x&&i`<p class="ed-narrow">No preview: <bdi>${x}</bdi></p>`}
      ${g&&!x&&i`
        ${g.notes.map(y=>i`<p class="note">${y}</p>`)}
        <${Lr} body=${O} preview=${g} isCurrent=${m&&!x} isReadOnly=${r} />
        ${!C&&g.variant&&i`<details><summary>Output of ${g.variant}</summary><pre dir="auto">${g.output}</pre></details>`}
        ${g.requests.map((y,E)=>i`<${Or} key=${E} request=${y} isOpen=${E===0} />`)}`}
    </aside>`}function on({label:e,value:t,options:n,names:o={},onChoose:s}){let r=ge();return i`<div class="ed-field">
    <label for=${r}>${e}</label>
    <select id=${r} value=${t} onChange=${a=>s(a.target.value)}>
      ${n.map(a=>i`<option key=${a} value=${a} selected=${a===t}>${o[a]??a}</option>`)}
    </select></div>`}function Tr({judges:e,model:t,onModel:n}){let o=ge();return i`<div class="ed-field">
    <label for=${o}>Model</label>
    <input id=${o} value=${t} placeholder=${e.join(", ")||"none"} onChange=${s=>n(s.target.value)} />
  </div>`}function Pr({text:e,onText:t}){let n=ge();return i`<div class="ed-field">
    <label for=${n}>Output to judge</label>
    <textarea id=${n} rows="4" value=${e} onInput=${o=>t(o.target.value)} />
  </div>`}function Or({request:e,isOpen:t}){let n=e.repeat?`, repeat ${e.repeat+1}`:"";return i`
    <details open=${t}>
      <summary><strong>${e.criterion??"all criteria"}</strong>${n}: ${e.tokens}, ${e.price}</summary>
      <p class="note">${e.judge}; tokens counted by ${e.token_source}</p>
      ${e.messages.map(o=>i`
        <h3>${o.role}</h3>
        <pre class="ed-prompt" dir="auto">${o.content}</pre>`)}
    </details>`}function Lr({body:e,preview:t,isCurrent:n,isReadOnly:o}){let[s,r]=w("ready"),[a,c]=w(null),[u,d]=w("");D(()=>{r("ready"),c(null),d("")},[t.calls_key]);let f=async()=>{r("running"),d("");try{let l=await te("/api/edit/preview",{...e,calls_key:t.calls_key});l.error?d(l.error):c(l)}catch(l){d(l.message)}r("ready")},$=M(null);D(()=>{s==="confirm"&&$.current.focus()},[s]);let p=t.n_calls===0||t.price.includes("not recorded");return o?i`<p><strong>${t.price}</strong></p>`:i`
    <div class="ed-trial">
      <p><strong>${t.price}</strong></p>
      ${t.refusal&&i`<p class="note">${t.refusal}</p>`}
      <p><button disabled=${!!t.refusal||!n||s==="running"} aria-expanded=${p?null:String(s==="confirm")}
        onClick=${()=>p?f():r("confirm")}>${s==="running"?"Judging …":p?"Try: free":"Try …"}</button></p>
      ${s==="confirm"&&i`
        <div class="ed-price" role="group" aria-label="Confirm the price" tabindex="-1" ref=${$}>
          <p>This makes ${t.price}.</p>
          <button class="ed-confirm" onClick=${f}>Confirm and judge</button>${" "}
          <button onClick=${()=>r("ready")}>Cancel</button>
        </div>`}
      <div role="status">${u&&i`<p class="error">${u}</p>`}${a&&i`<${Ar} result=${a} />`}</div>
    </div>`}function Ar({result:e}){return i`
    <p class=${`conclusion ${e.tone}`}>${e.conclusion}</p>
    ${e.notes.map(t=>i`<p class="error">${t}</p>`)}
    ${e.judgments.map(t=>i`
      <section class="ed-judgment">
        <h3>${t.criterion}: ${t.raw} <span class="note">value ${st(t.value)}, ${t.cached?"cached":t.cost_usd===null?"price unknown":`$${t.cost_usd?t.cost_usd.toPrecision(2):0}`}${t.confidence===null?"":`, confidence ${t.confidence}`}</span></h3>
        <p class="note">${t.judge}</p>
        <p dir="auto">${t.rationale}</p>
        ${t.evidence.map(n=>i`<blockquote dir="auto">${n.quote}${!n.match&&i` <span class="fail">! not in the output</span>`}</blockquote>`)}
      </section>`)}`}var No=3,Mr=40,Ro=300;function Wo({dialog:e,path:t,file:n,onSave:o,onSettle:s,onClose:r}){let a=M(null);D(()=>{a.current.showModal()},[]);let c=n.problems.filter(f=>f.severity==="error"&&f.path===t).length,u=e.kind==="conflict",d=u?e.disk.text:n.saved;return i`
    <dialog class="ed-dialog" ref=${a} onClose=${r} aria-labelledby="ed-dialog-title">
      <h2 id="ed-dialog-title">${u?"Changed on disk":`Changes to ${t}`}</h2>
      ${e.message&&i`<p class="error" role="alert">${e.message}</p>`}
      ${u?i`<p>Below: what is on disk now (−), and what you have here (+).</p>`:c>0&&i`<p class="fail">✗ With ${c} ${c===1?"error":"errors"} it cannot be used until ${c===1?"it is":"they are"} corrected.</p>`}
      <${Ir} before=${d} after=${n.text} />
      <div class="ed-buttons">
        ${u?i`
              <button onClick=${()=>s(e.disk,!0)}>Keep mine, and look at the changes again</button>
              <button onClick=${()=>s(e.disk,!1)}>Discard mine, take the file on disk</button>`:i`<button class="ed-save" autofocus onClick=${o}>${c?`Save with ${c} ${c===1?"error":"errors"}`:"Save"} <kbd>Ctrl+S</kbd></button>`}
        <button onClick=${()=>a.current.close()}>Cancel</button>
      </div>
    </dialog>`}function Ir({before:e,after:t}){let n=Ke(e,t,{timeout:Ro});if(!n)return i`<p class="note">The texts have too little in common to be compared line by line.</p>`;let o=[];return n.forEach((s,r)=>{let a=s.value.replace(/\n$/,"").split(`
`);if(!s.added&&!s.removed){o.push(...jr(a,r===0,r===n.length-1));return}let c=s.removed?n[r+1]:n[r-1],d=c&&(s.removed?c.added:c.removed)&&c.count===s.count&&s.count<=Mr?c.value.replace(/\n$/,"").split(`
`):[];a.forEach((f,$)=>o.push({sign:s.removed?"−":"+",line:f,other:d[$]}))}),i`
    <div class="ed-diff" tabindex="0" role="region" aria-label="Changed lines">
      ${o.map(s=>{if(s.folded)return i`<div class="ed-fold">${s.folded} unchanged lines</div>`;if(!s.sign)return i`<div><span>  </span>${s.line}</div>`;let r=s.sign==="+"?"ins":"del";return i`<${r} class="ed-line"><span class="hidden">${s.sign==="+"?"added: ":"removed: "}</span><span aria-hidden="true">${s.sign} </span><${Dr} row=${s} /></${r}>`})}
    </div>`}function jr(e,t,n){let o=t?0:No,s=n?0:No;return e.length<=o+s+1?e.map(r=>({line:r})):[...e.slice(0,o).map(r=>({line:r})),{folded:e.length-o-s},...s?e.slice(-s).map(r=>({line:r})):[]]}function Dr({row:e}){let t=e.sign==="+",n=e.other===void 0?null:dt(t?e.other:e.line,t?e.line:e.other,{timeout:Ro});return n?n.filter(o=>t?!o.removed:!o.added).map(o=>o.added||o.removed?i`<mark>${o.value}</mark>`:o.value):e.line}var Nr=300,Rr="/edit",Bo="(max-width: 44rem)",Wr=/^\/edit\/(.+)$/;function Ho(){let e=Wr.exec(location.pathname),t=document.getElementById("main");if(!e||!en()||!t)return;let n=document.createElement("div"),o=e[1].split("/").map(decodeURIComponent).join("/");for(;t.querySelector("h1").nextSibling;)t.querySelector("h1").nextSibling.remove();t.append(n),document.querySelector(".skip").textContent="Skip to the editor",ee(i`<${qr} path=${o} />`,n)}function gt(){return new URLSearchParams(location.hash.slice(1))}function qo(e){let t=gt();for(let[n,o]of Object.entries(e))o===null?t.delete(n):t.set(n,o);history.replaceState(null,"",`#${t}`)}function qr({path:e}){let[t,n]=w(null),[o,s]=w(""),r=()=>te("/api/edit/files",{}).then(n,u=>s(u.message));D(()=>{r()},[]);let a=ie(Bo);if(o)return i`<p class="error" role="alert">${o}</p>`;let c=i`<${Br} listing=${t} path=${e} />`;return i`
    <div class="editor">
      <nav class="ed-files" aria-label="Files" aria-busy=${!t}>
        ${a?i`<details><summary>Files of ${t?.folder}</summary>${c}</details>`:c}
      </nav>
      <div class="ed-work"><${Ur} path=${e} listing=${t} onSaved=${r} /></div>
    </div>`}function Fr({files:e}){let t=e.find(n=>n.command);return t&&i`<p class="note">To run it: <code>${t.command}</code></p>`}function Br({listing:e,path:t}){return e?i`
    <p class="ed-folder"><a href=${Rr}>${e.folder}</a></p>
    <ul>
      ${e.files.map(n=>i`
        <li key=${n.path}>
          <a href=${Uo(n.path)} aria-current=${n.path===t?"page":null}><bdi>${n.path}</bdi></a>
          <span class="note">${n.kind} <${Hr} file=${n} /></span>
        </li>`)}
    </ul>
    <${Fr} files=${e.files} />`:i`<p class="note">Reading the folder …</p>`}function Hr({file:e}){let t=[];return e.n_errors&&t.push(i`<span class="fail">✗ ${Fo(e.n_errors,"error")}</span>`),e.n_warnings&&t.push(i`<span class="inconclusive">! ${Fo(e.n_warnings,"warning")}</span>`),t}function Fo(e,t){return`${e} ${t}${e===1?"":"s"}`}function Uo(e){return`/edit/${e.split("/").map(encodeURIComponent).join("/")}`}function Ur({path:e,listing:t,onSaved:n}){let[o,s]=w(null),r=M(null),[a,c]=w(""),[u,d]=w(gt().get("view")),[f,$]=w(gt().get("case")),[p,l]=w(null),[h,g]=w(""),[k,x]=w(null),_=M({timer:0,number:0}),b=M(Promise.resolve()),C=M(null),L=ie(Bo),O=A=>s(r.current={...r.current,...A}),W=async()=>{try{let A=await te("/api/edit/open",{path:e});O({...A,saved:A.text});let B=Number(gt().get("line"));B&&S(B)}catch(A){c(A.message)}};D(()=>{W()},[e]);let P=!!(o&&o.text!==o.saved);D(()=>{if(document.title=`${P?"* ":""}Edit ${e}`,!P)return;let A=B=>B.preventDefault();return addEventListener("beforeunload",A),()=>removeEventListener("beforeunload",A)},[P]);let m=async()=>{let A=++_.current.number,{text:B}=r.current;try{let se=await te("/api/edit/check",{path:e,text:B});A===_.current.number&&B===r.current.text&&O(se),c("")}catch(se){c(se.message)}},y=A=>{g(""),O({text:A}),clearTimeout(_.current.timer),_.current.timer=setTimeout(m,Nr)},E=(A,B,se=null)=>{let ve=b.current.then(async()=>{let z,T;do z=r.current.text,T=await te("/api/edit/change",{path:e,text:z,kind:A,where:B,value:se});while(z!==r.current.text);_.current.number++,O(T),c(""),g("")});return b.current=ve.catch(z=>c(z.message)),ve.then(()=>!0,()=>!1)},j=A=>{d(A),qo({view:A})},N=A=>{$(A),qo({case:A})},S=A=>{j("text"),x({line:A})},v=!!o&&!o.is_recorded&&!L,q=async()=>{v&&(C.current=document.activeElement,C.current?.blur(),clearTimeout(_.current.timer),await b.current,await m(),r.current.text===r.current.saved?g("There are no changes to save."):l({kind:"save"}))},ne=()=>{l(null),C.current?.focus()},de=async()=>{let{text:A,version:B,problems:se}=r.current,ve=se.some(z=>z.severity==="error");try{let z=await te("/api/edit/save",{path:e,text:A,version:B,allow_errors:ve});O({saved:A,version:z.version}),ne(),g("Saved."),n()}catch(z){z instanceof Te&&z.status===409?l({kind:"conflict",disk:z.reply,message:z.message}):l({kind:"save",message:z.message})}},Ve=(A,B)=>{O({saved:A.text,version:A.version}),ne(),B||O({text:A.text}),m()};if(D(()=>{let A=B=>{!(B.ctrlKey||B.metaKey)||B.key.toLowerCase()!=="s"||(B.preventDefault(),p?.kind==="save"?de():p||q())};return addEventListener("keydown",A),()=>removeEventListener("keydown",A)}),!o)return a?i`<p class="error" role="alert">${a}</p>`:i`<p class="note" aria-busy="true">Opening …</p>`;let fe=o.is_recorded||L,pe=Kr(o),$e=pe.some(A=>A.name===u)?u:pe[0].name,ze=o.problems.filter(A=>A.path===e);return i`
    <div class="ed-bar">
      <div role="group" aria-label="View" class="ed-views">
        ${pe.map(A=>i`<button aria-pressed=${String(A.name===$e)} onClick=${()=>j(A.name)}>${A.label}</button>`)}
      </div>
      <span class="ed-state" role="status">${h||(P?"Not saved":"")}</span>
      ${v&&i`<button class="ed-save" disabled=${!P} onClick=${q}>Save … <kbd>Ctrl+S</kbd></button>`}
    </div>
    ${L&&i`<p class="ed-narrow">This window is too narrow for editing: files can be read here, and edited in a wider one.</p>`}
    ${o.is_recorded&&i`<p class="ed-narrow">This file holds recorded ${o.kind==="recorded replies"?"replies":"results"}: it can be read, but not edited.</p>`}
    ${a&&i`<p class="error" role="alert">${a}</p>`}
    <${Vr} file=${o} path=${e} onJump=${S} />
    <div class="ed-panes">
      <div class="ed-pane">
        ${$e==="text"?i`<${Co} path=${e} text=${o.text} problems=${ze} isReadOnly=${fe} target=${k} onInput=${y} />`:i`<div class="ed-form">
              ${$e==="cases"&&i`<${Ao} file=${o} caseId=${f} onCase=${N} change=${E} isReadOnly=${fe} />`}
              ${$e==="rubric"&&i`<${Mo} data=${o.data} change=${E} isReadOnly=${fe} />`}
              ${$e==="suite"&&i`<${Io} data=${o.data} profiles=${o.profiles} change=${E} isReadOnly=${fe} />`}
            </div>`}
      </div>
      ${t&&i`<${Do} path=${e} file=${o} listing=${t} caseId=${f} onCase=${N} isReadOnly=${L} />`}
    </div>
    ${p&&i`<${Wo} dialog=${p} path=${e} file=${o}
      onSave=${de} onSettle=${Ve} onClose=${ne} />`}
  `}function Kr(e){let t=[];return e.form==="rubric"&&Array.isArray(e.data?.criteria)&&t.push({name:"rubric",label:"Criteria"}),e.form==="suite"&&t.push({name:"suite",label:"Suite"}),e.cases_at&&t.push({name:"cases",label:"Cases"}),[...t,{name:"text",label:"Text"}]}var Jr={error:"✗",warning:"!"};function Vr({file:e,path:t,onJump:n}){let o=M(null);Y(()=>{o.current.textContent!==e.summary&&(o.current.textContent=e.summary)},[e.summary]);let s=e.problems.some(r=>r.severity==="error")?"fail":e.problems.length?"inconclusive":"pass";return i`
    <section class=${`ed-problems ${s}`} aria-label="Problems">
      <p><span>${e.kind}: </span><strong role="status" ref=${o}></strong></p>
      ${e.problems.length>0&&i`
        <ul>
          ${e.problems.map(r=>i`
            <li>
              <span class=${r.severity==="error"?"fail":"inconclusive"}>${Jr[r.severity]} ${r.severity}</span>${" "}
              <${zr} problem=${r} path=${t} onJump=${n} />${" "}
              <bdi>${r.message}</bdi>${r.remedy&&i` <span class="note">(${r.remedy})</span>`}
              ${r.rule&&i` <code>${r.rule}</code>`}
            </li>`)}
        </ul>`}
    </section>`}function zr({problem:e,path:t,onJump:n}){let o=e.line===null?"":`line ${e.line}`;if(e.path===t)return o&&i`<button class="ed-link" onClick=${()=>n(e.line)}>${o}</button>`;if(!e.path)return null;let s=e.line===null?"":`#view=text&line=${e.line}`;return i`<a href=${Uo(e.path)+s}><bdi>${e.path}</bdi> ${o}</a>`}var _t=2;function Gr([e,t]){return`/diff?a=${encodeURIComponent(e)}&b=${encodeURIComponent(t)}`}function Yr({boxes:e}){let[t,n]=w([]);for(let s of e)s.checked=t.includes(s.value),s.onchange=()=>{let r=t.filter(a=>a!==s.value);n(s.checked?[...r.slice(1-_t),s.value]:r)};let o=_t-t.length;return i`
    <div class="chosen">
      ${o===0?i`<a class="button" href=${Gr(t)}>Side by side</a>`:i`<button type="button" disabled>Side by side</button>`}
      ${t.length>0&&i`
        <button type="button" onClick=${()=>n([])}>Clear</button>`}
      <span role="status">${o===_t?"Tick two rows to see them side by side.":o?`${t[0]}; tick one more row.`:`${t[0]} and ${t[1]}`}</span>
    </div>
  `}function Ko(){let e=[...document.querySelectorAll("[data-choice]")];if(e.length<_t)return;let t=e.map(o=>{let s=document.createElement("input");s.type="checkbox",s.value=o.dataset.choice,s.setAttribute("aria-label",`Side by side: ${o.dataset.choice}`);let r=document.createElement("label");return r.className="tick",r.append(s),o.prepend(r),s}),n=document.createElement("div");e[0].closest(".wide").before(n),ee(i`<${Yr} boxes=${t} />`,n)}function Qr({address:e,lines:t}){let[n,o]=w(null),[s,r]=w("");if(D(()=>{let c=new EventSource(e);return c.addEventListener("progress",u=>{let d=JSON.parse(u.data);o(d),r(""),d.lines.forEach((f,$)=>{t[$]&&(t[$].textContent=f)})}),c.addEventListener("end",()=>{c.close(),location.reload()}),c.addEventListener("problem",u=>{c.close(),r(JSON.parse(u.data).text)}),c.onerror=()=>r("judgekit view does not answer. Is it still running?"),()=>c.close()},[e]),!n)return i`<p class="note">${s||"Loading the progress …"}</p>`;let a=n.total?Math.min(1,n.done/n.total):null;return i`
    <div class="live">
      <progress aria-label="Progress of the run" max=${n.total??void 0}
        value=${a===null?void 0:Math.min(n.done,n.total)}></progress>
      <span class="live-text">${n.lines[0]}</span>
    </div>
    <p class="hidden" role="status">${Xr(n,a)}</p>
    ${n.hint&&i`<p class="note">${n.hint}</p>`}
    ${s&&i`<p class="note" role="alert">${s}</p>`}
  `}function Xr(e,t){return t===null?"":`${Math.floor(t*10)*10} % of ${e.total}`}function Jo(){let e=document.getElementById("live");if(!e)return;let t=document.querySelectorAll("main > dl dd");ee(i`<${Qr} address=${e.dataset.events} lines=${t} />`,e)}function Oe(e){return{annotator:e,answers:{},flags:{},seconds:{},saved:null,changed:null}}function ae(e,t,n){return e.answers[t.id]?.[n]??null}function De(e){return e!=null&&(e.cannot||e.choice!=null)}var Le=e=>e.name??"";function oe(e,t,n,o){let s=ae(t,n,Le(e.criteria[o]));return De(s)?e.reason&&!s.cannot&&!s.comment.trim():!0}function bt(e,t,n){return n.criteria.every(o=>!oe(e,t,n,o))}var Vo=(e,t)=>(t?.at??"")>(e?.at??"")?t:e;function Ne(e,t){let n={...e,answers:{...e.answers},flags:{...e.flags},seconds:{...e.seconds}};for(let[s,r]of Object.entries(t.answers)){let a={...n.answers[s]};for(let[c,u]of Object.entries(r))a[c]=Vo(a[c],u);n.answers[s]=a}for(let[s,r]of Object.entries(t.flags))n.flags[s]=Vo(n.flags[s],r);for(let[s,r]of Object.entries(t.seconds))n.seconds[s]=Math.max(n.seconds[s]??0,r);let o=s=>[e[s],t[s]].filter(Boolean).sort().at(-1)??null;return{...n,saved:o("saved"),changed:o("changed")}}function Zr(e){let t=2166136261;for(let n of e)t=Math.imul(t^n.codePointAt(0),16777619);return t=Math.imul(t^t>>>15,2246822507),(t^t>>>13)>>>0}var zo=10;function sn(e,t){if(e.adjudicates)return e.items;let n=s=>Zr(`${e.packet} ${t} ${s.id}`),o=e.items.filter(s=>!s.again);o.sort((s,r)=>s.part-r.part||n(s)-n(r)||(s.id<r.id?-1:1));for(let s of e.items.filter(r=>r.again)){let r=o.findIndex(a=>a.id===s.again);o.splice(Math.min(o.length,r+zo+n(s)%zo),0,s)}return o}function Go(e,t,n){return n.flatMap((o,s)=>{let r=o.criteria.map(u=>Le(e.criteria[u])),a=r.filter(u=>De(ae(t,o,u))||ae(t,o,u)?.comment.trim());return(a.length||!t.flags[o.id]?.on?a:r.slice(0,1)).map(u=>rn(e,t,o,u,s+1))})}function rn(e,t,n,o,s){let r=ae(t,n,o),a={packet:e.packet,position:s,labelled_at:r?.at??new Date().toISOString()};t.seconds[n.id]&&(a.seconds=Math.round(t.seconds[n.id])),r?.cannot&&(a.cannot_judge=!0),t.flags[n.id]?.on&&(a.flagged=!0),e.adjudicates&&(a.adjudicates=!0);let c={case_id:n.id};return o!==""&&(c.criterion=o),c.annotator=t.annotator,r&&!r.cannot&&r.choice!=null&&(c[e.pairs?"winner":"raw"]=r.choice),r?.comment.trim()&&(c.rationale=r.comment.trim()),c.metadata=a,c}function an(e,t){let n=new Map(e.items.map(r=>[r.id,r])),o=new Set(t.map(r=>r.annotator));if(o.size>1)throw new Error("This file has the answers of several people. Open a file of one person.");let s=Oe(String([...o][0]??""));for(let r of t){let a=r.metadata??{},c=n.get(r.case_id);if(a.packet!==e.packet||!c)throw new Error("This file belongs to another labelling page, so that its answers do not fit here.");let d={choice:r.raw??r.winner??null,cannot:a.cannot_judge===!0,comment:String(r.rationale??""),at:String(a.labelled_at??"")};s.answers[c.id]={...s.answers[c.id],[r.criterion??""]:d},a.flagged&&(s.flags[c.id]={on:!0,at:d.at}),a.seconds&&(s.seconds[c.id]=a.seconds),d.at>(s.changed??"")&&(s.changed=d.at)}return s}function Yo(e,t){let n=t.split(`
`).map(s=>s.trim()).filter(Boolean),o;try{o=n.map(s=>JSON.parse(s))}catch{throw new Error("This is not a file that this page has saved: it cannot be read.")}if(!o.length||o.some(s=>s===null||typeof s!="object"))throw new Error("This file has no answers.");return an(e,o)}var Qo=e=>e.adjudicates?"judgekit-adjudicate":"judgekit-label",ln=(e,t)=>`${Qo(e)} ${e.packet} ${t}`,Xo=e=>`${Qo(e)}-name ${e.packet}`;function vt(e,t){try{let n=localStorage.getItem(ln(e,t));return n?Ne(Oe(t),JSON.parse(n)):null}catch{return null}}function Zo(e){try{return localStorage.getItem(Xo(e))??""}catch{return""}}function Re(e,t){let n=Ne(t,vt(e,t.annotator)??Oe(t.annotator));try{return localStorage.setItem(ln(e,t.annotator),JSON.stringify(n)),localStorage.setItem(Xo(e),t.annotator),!0}catch{return!1}}function es(e,t,n){return n===ln(e,t)}function ts(e,t){let n=t.map(r=>`${JSON.stringify(r)}
`).join(""),o=URL.createObjectURL(new Blob([n],{type:"application/jsonl"})),s=document.createElement("a");s.href=o,s.download=e,document.body.append(s),s.click(),s.remove(),setTimeout(()=>URL.revokeObjectURL(o),1e3)}function ns(e){return`labels-${e.normalize("NFKD").replace(/[^\p{L}\p{N}]+/gu,"-").replace(/^-+|-+$/g,"").toLowerCase()||"annotator"}.jsonl`}var ea="judgekit-label/1",ta=12e4,na=5,oa=5;function rs(){let e=document.getElementById("label-data"),t=document.getElementById("label");if(!e||!t)return;let n=JSON.parse(e.textContent);if(n.format!==ea)return;let o=[...t.querySelectorAll("#label-task > p")].map(r=>r.textContent),s=t.dataset.answers??null;t.replaceChildren(),ee(i`<${la} task=${n} intro=${o} store=${s} />`,t)}var sa=e=>[...e].sort((t,n)=>t-n)[Math.floor(e.length/2)],ra=e=>new Date(e).toLocaleTimeString([],{hour:"2-digit",minute:"2-digit"}),wt=(e,t,n=`${t}s`)=>`${e.toLocaleString("en")} ${e===1?t:n}`,aa=e=>e.closest?.("input:not([type=checkbox]), textarea, select")!=null,ia=e=>e.closest?.("button, a, summary, label, input")!=null;function la({task:e,intro:t,store:n}){let[o,s]=w("start");Y(()=>{document.body.classList.toggle("answering",o!=="start")},[o]);let[r,a]=w(null),[c,u]=w(""),[d,f]=w(!1),[$,p]=w(0),l=M({n:0,last:Promise.resolve()}),h=M(null);h.current=r;function g(P,m){let y={...P,changed:new Date().toISOString()};h.current=y,a(y),f(!Re(e,y)),n&&m&&k(y,m)}function k(P,m){let y=l.current;p(y.n+=1),y.last=y.last.then(()=>x(P,m)).finally(()=>p(y.n-=1))}async function x(P,{item:m,name:y,position:E}){try{await te(n,{annotator:P.annotator,labels:[rn(e,P,m,y,E)]});let j={...h.current,saved:new Date().toISOString()};h.current=j,a(j),u("")}catch(j){u(`The last answer is not stored: ${j.message} It is kept in this browser; choose it again to store it.`)}}async function _(P){let m=vt(e,P)??Oe(P);if(n)try{let{labels:y}=await te(n,{annotator:P,labels:[]}),E={...an(e,y),annotator:P};m=Ne(m,E);for(let[j,N]of sn(e,P).entries())for(let S of N.criteria.map(v=>Le(e.criteria[v]))){let[v,q]=[m,E].map(ne=>ae(ne,N,S)?.choice??null);v!==q&&k(m,{item:N,name:S,position:j+1})}}catch(y){u(`The answers that are stored cannot be read: ${y.message}`);return}u(""),a(m),f(!Re(e,m)),s("items")}function b(P){try{let m=Yo(e,P),y=Ne(vt(e,m.annotator)??Oe(m.annotator),m);if(u(""),n&&Re(e,y))return void _(m.annotator);a({...y,saved:y.saved??m.changed}),f(!Re(e,y)),s("items")}catch(m){u(m.message)}}let C=J(()=>r?sn(e,r.annotator):[],[r?.annotator]);function L(){ts(ns(r.annotator),Go(e,r,C));let P={...h.current,saved:new Date().toISOString()};h.current=P,a(P),Re(e,P)}D(()=>{let P=y=>{let E=h.current;(n?l.current.n>0:E?.changed&&E.changed>(E.saved??""))&&y.preventDefault()},m=y=>{let E=h.current;if(!E||!y.newValue||!es(e,E.annotator,y.key))return;let j=Ne(E,JSON.parse(y.newValue));h.current=j,a(j)};return addEventListener("beforeunload",P),addEventListener("storage",m),()=>{removeEventListener("beforeunload",P),removeEventListener("storage",m)}},[]);let O=d?i`<p class="banner fail" role="alert">! This browser does not keep your answers. Use “Save file” often, and before you close the page.</p>`:null,W=c&&i`<p class="banner fail" role="alert">! ${c}</p>`;return o==="practice"?i`<${ss} task=${os(e)} items=${os(e).items} work=${Oe("practice")}
      isPractice leave=${()=>s("start")} />`:o==="start"?i`${W}<${ca} task=${e} intro=${t} isStored=${n!=null} begin=${_} resume=${b}
      practise=${()=>s("practice")} />`:i`${O}${W}<${ss} task=${e} items=${C} work=${r} change=${g} save=${L} isRefused=${d}
    isStored=${n!=null} isSending=${$>0} resume=${b} leave=${()=>s("start")} />`}function ca({task:e,intro:t,isStored:n,begin:o,resume:s,practise:r}){let[a,c]=w(Zo(e)),[u,d]=w("");function f($){$.preventDefault();let p=a.trim().replace(/\s+/g," ");p?e.others?.includes(p)?d(`${p} has labelled these items: a third annotator decides.`):o(p):d("Type your name first.")}return i`
    <section aria-label="The task">
      ${t.map($=>i`<p>${$}</p>`)}
      <p>${n?"Every answer is stored at once in the project from which this page is served.":`Your answers are kept in this browser only, and nothing is sent anywhere. Use “Save file” when you have finished${e.adjudicates?".":", and send that file back."}`}</p>
    </section>
    <form class="start" onSubmit=${f} novalidate>
      <label for="annotator">Your name</label>
      <input id="annotator" autocomplete="name" maxlength="80" value=${a} aria-describedby="name-gap"
        onInput=${$=>c($.currentTarget.value)} />
      <button class="main">Start</button>
      ${!e.adjudicates&&i`<button type="button" onClick=${r}>Try it first</button>`}
      <${as} resume=${s} />
      <p id="name-gap" class="fail" role="alert">${u}</p>
    </form>
    <section aria-label="What is asked">
      ${e.criteria.map($=>i`
        <section class="criterion"><h2>${$.name??"Preference"}</h2><${is} criterion=${$} /></section>`)}
    </section>
    <${ls} task=${e} />
  `}function as({resume:e}){let t=M(null);async function n(o){let[s]=o.currentTarget.files;o.currentTarget.value="",s&&e(await s.text())}return i`<button type="button" onClick=${()=>t.current.click()}>Resume from file</button>
    <input type="file" hidden ref=${t} accept=".jsonl,.json,application/jsonl" aria-label="File of your answers" onChange=${n} />`}var yt=e=>e.levels.every((t,n)=>t.shown===String(n+1));function is({criterion:e}){let t=e.levels?.filter(n=>n.name||n.about)??[];return i`
    <p class="foreign">${e.question}</p>
    ${e.guide&&i`<p class="foreign guide">${e.guide}</p>`}
    ${t.length>0&&i`<dl class="anchors">${t.map(n=>i`
      <dt>${yt(e)||!n.name?n.shown:n.name}</dt>
      <dd>${yt(e)&&n.name}${yt(e)&&n.name&&n.about?": ":""}${n.about}</dd>`)}</dl>`}
  `}function ls({task:e,isOpen:t}){let o=[...e.pairs?[["1","the first is better"],["2","the second is better"],["3","they are equally good"],["0","cannot judge"]]:[["1 … 9","score, by the number on the button; the next criterion follows"],["0","cannot judge this criterion"]],["Enter","next item"],["← →","item before, item after"],["↑ ↓","criterion before, after"],["Backspace","undo the last answer"],["m","comment (Esc leaves it)"],["f","flag this item, to come back to it"],["?","these keys"]];return i`<details class="keys" open=${t}><summary>Keys</summary><dl>${o.map(([s,r])=>i`<dt><kbd>${s}</kbd></dt><dd>${r}</dd>`)}</dl></details>`}function os(e){let t=s=>({text:s,steps:""}),o={id:"practice",part:0,again:"",outputs:e.pairs?[t("You can return it within 30 days, with the receipt."),t("Returns are possible.")]:[t("You can return it within 30 days, with the receipt.")],about:[{title:"Input",text:"I bought a lamp last week. Can I return it?"}],criteria:e.criteria.map((s,r)=>r)};return{...e,packet:"practice",items:[o]}}function ss({task:e,items:t,work:n,change:o,save:s,leave:r,resume:a,isPractice:c,isRefused:u,isStored:d,isSending:f}){let[$,p]=w(n),l=c?$:n,h=t.findIndex(T=>!bt(e,l,T)),[g,k]=w(h<0?t.length:h),[x,_]=w(0),[b,C]=w([]),[L,O]=w(""),[W,P]=w(!0),[m,y]=w(!1),[E,j]=w(0),N=M(null),S=M(null);Y(()=>{S.current&&N.current?.querySelector(S.current)?.focus(),S.current=null});let v=t[g]??null,q=t.filter(T=>bt(e,l,T)).length,ne=da(v,c);function de(T){let I=Math.max(0,Math.min(t.length,T));k(I);let V=t[I]?.criteria.findIndex(H=>oe(e,l,t[I],H))??0;_(Math.max(0,V)),y(!1),O(I===t.length?"End of the items.":`Item ${I+1} of ${t.length}.`),scrollTo(0,0)}function Ve(T,I,V=!1){let H=Le(e.criteria[v.criteria[T]]),re=ae(l,v,H)??{choice:null,cannot:!1,comment:""},G={...re,...I,at:new Date().toISOString()},Q={...l,answers:{...l.answers,[v.id]:{...l.answers[v.id],[H]:G}},seconds:{...l.seconds,[v.id]:(l.seconds[v.id]??0)+ne.take()}};return"comment"in I||C([...b,{at:g,place:T,before:re}]),c?p(Q):o(Q,V||e.reason&&oe(e,Q,v,v.criteria[T])?null:{item:v,name:H,position:g+1}),Q}function fe(T,I,V){let H=Ve(T,{choice:I,cannot:I===null}),re=e.criteria[v.criteria[T]].name,G=v.criteria.findIndex(kt=>oe(e,H,v,kt)),Q=v.criteria.findIndex((kt,fs)=>fs>T&&oe(e,H,v,kt)),Ge=e.reason&&oe(e,H,v,v.criteria[T]),ds=Ge?T:Q<0?G<0?T:G:Q;_(ds),O(`${V}${re?` for ${re}`:""}. ${G<0?"Enter: next item.":""}`),Ge&&(S.current=`[data-place="${T}"] textarea`)}function pe(){let T=v.criteria.findIndex(re=>oe(e,l,v,re));if(T<0){de(g+1),u&&q%na===0&&j(q);return}_(T);let I=e.criteria[v.criteria[T]].name,V=ae(l,v,I??"");O(De(V)?"A reason is missing.":`Not answered yet${I?`: ${I}`:""}.`);let H=e.pairs||e.criteria[v.criteria[T]].levels.length;S.current=`[data-place="${T}"] ${De(V)?"textarea":H?"h3":"input"}`}function $e(){let T=b.at(-1);if(!T){O("There is nothing to undo.");return}C(b.slice(0,-1));let I=t[T.at],V=Le(e.criteria[I.criteria[T.place]]),H=ae(l,I,V),re={...T.before,comment:H?.comment??"",at:new Date().toISOString()},G={...l,answers:{...l.answers,[I.id]:{...l.answers[I.id],[V]:re}}};c?p(G):o(G,{item:I,name:V,position:T.at+1}),k(T.at),_(T.place),O("The last answer is undone.")}function ze(){let T=!l.flags[v.id]?.on,I={...l.flags,[v.id]:{on:T,at:new Date().toISOString()}};c?p({...l,flags:I}):o({...l,flags:I}),O(T?"Flagged.":"Flag removed.")}function A(T){if(T.ctrlKey||T.metaKey){T.key==="Enter"&&v&&(T.preventDefault(),pe());return}if(T.altKey||!W||T.defaultPrevented)return;if(aa(T.target)){if(T.key==="Escape"){T.target.blur();let V=v?.criteria.findIndex(H=>oe(e,l,v,H))??-1;V>=0&&_(V)}return}let I={"?":()=>y(!m),ArrowLeft:()=>de(g-1),Backspace:$e};if(v){let V=e.criteria[v.criteria[x]],H=e.pairs?cs:V.levels??[];(e.pairs?H.map(({value:G,name:Q})=>[G,Q]):H.map(G=>[G.value,G.shown])).forEach(([G,Q],Ge)=>I[Ge+1]=()=>fe(x,G,Q)),!H.length&&/^[1-9.-]$/.test(T.key)&&N.current?.querySelector(`[data-place="${x}"] input`)?.focus(),I[0]=()=>fe(x,null,"Cannot judge"),I.ArrowRight=()=>de(g+1),I.ArrowDown=()=>_(Math.min(v.criteria.length-1,x+1)),I.ArrowUp=()=>_(Math.max(0,x-1)),I.f=ze,I.m=()=>{let G=b.at(-1),Q=G?.at===g&&oe(e,l,v,v.criteria[x])?G.place:x;_(Q),S.current=`[data-place="${Q}"] textarea`,O("Comment.")},ia(T.target)||(I.Enter=pe)}I[T.key]&&(T.preventDefault(),I[T.key]())}let B=M(null);B.current=A,Y(()=>{let T=I=>B.current(I);return document.addEventListener("keydown",T),()=>document.removeEventListener("keydown",T)},[]);let se=i`<${fa} task=${e} items=${t} work=${l} nDone=${q} at=${g} isPractice=${c}
    isRefused=${u} isStored=${d} isSending=${f} save=${s} leave=${r} resume=${a} />`,ve=E>0&&u?i`<p class="banner fail" role="alert">! ${wt(E,"item")} done, and this browser does not keep them.
        <button onClick=${()=>{s(),j(0)}}>Save file</button></p>`:null,z=i`<p class="hidden" role="status" aria-live="polite">${L}</p>`;return v?i`
    ${se}${ve}${z}
    ${m&&i`<${ha} task=${e} hasKeys=${W} setHasKeys=${P} close=${()=>y(!1)} />`}
    <div class=${e.pairs?"item pair":"item"}>
      <${pa} task=${e} item=${v} at=${g} />
      <div class="panel" ref=${N} onClick=${ua}>
        ${v.criteria.map((T,I)=>i`
          <${$a} key=${`${v.id} ${T}`} task=${e} criterion=${e.criteria[T]} place=${I} isActive=${I===x}
            isGap=${oe(e,l,v,T)} answer=${ae(l,v,Le(e.criteria[T]))}
            activate=${()=>_(I)} choose=${fe} comment=${(V,H)=>Ve(I,{comment:V},H)} next=${pe} />`)}
        <div class="moves">
          <button onClick=${()=>de(g-1)} disabled=${g===0}>← Back</button>
          <button aria-pressed=${!!l.flags[v.id]?.on} onClick=${ze}>⚑ Flag</button>
          <button onClick=${$e} disabled=${!b.length}>Undo</button>
          <button class="main" onClick=${pe}>Next item</button>
        </div>
        <button class="plain" aria-expanded=${m} onClick=${()=>y(!m)}>? Keys</button>
      </div>
    </div>`:i`${se}${ve}${z}<${ga} task=${e} items=${t} work=${l} go=${de} save=${s} leave=${r}
      isPractice=${c} isStored=${d} />`}function ua(e){e.detail&&e.target.closest("button")?.blur()}function da(e,t){let n=M({last:0,total:0}),o=()=>{let s=performance.now(),r=s-n.current.last;n.current.last&&r<=ta&&!document.hidden&&(n.current.total+=r/1e3),n.current.last=s};return D(()=>{if(t)return;n.current={last:performance.now(),total:0};let s=["keydown","pointerdown","pointermove","wheel"];for(let r of s)addEventListener(r,o,{passive:!0});return()=>s.forEach(r=>removeEventListener(r,o))},[e?.id]),{take(){o();let{total:s}=n.current;return n.current.total=0,s}}}function fa({task:e,items:t,work:n,nDone:o,at:s,isPractice:r,isRefused:a,isStored:c,isSending:u,save:d,leave:f,resume:$}){if(r)return i`<header class="status"><p><strong>Practice</strong> Nothing that you do here is kept.</p>
      <button class="main" onClick=${f}>Back to the start</button></header>`;let p=Object.values(n.seconds).filter(x=>x>0),l=p.length<oa?e.seconds:sa(p),h=Math.ceil((t.length-o)*l/60),g=c?"stored":a?"not kept":"kept in this browser",k=u?"storing …":n.changed?a?g:`${g} at ${ra(c?n.saved??n.changed:n.changed)}`:"";return i`
    <header class="status">
      <p><bdi><strong>${n.annotator}</strong></bdi>
        <span>${s<t.length?`item ${s+1} of ${t.length}`:`${t.length} items`}, ${o} done</span>
        ${k&&i`<span>${k}</span>`}
        ${o<t.length&&i`<span>about ${wt(h,"minute")} left</span>`}</p>
      <progress max=${t.length} value=${o} aria-label="Items done"></progress>
      <span class="tools"><button onClick=${d}>Save file</button><${as} resume=${$} />
        <button class="plain" onClick=${f}>Task</button></span>
    </header>`}function pa({task:e,item:t,at:n}){let o=M(null);Y(()=>{document.activeElement===document.body&&o.current?.focus({preventScroll:!0})},[t.id]);let s=e.pairs?["FIRST","SECOND"]:["Output"];return i`
    <div class="texts">
      <h2 ref=${o} tabindex="-1">Item ${n+1}</h2>
      ${t.labels&&i`<section class="labels" aria-label="Labels that differ"><h3>Labels that differ</h3><dl>${t.labels.map(({title:r,text:a})=>i`
        <dt><bdi>${r}</bdi></dt><dd dir="auto">${a}</dd>`)}</dl></section>`}
      ${t.about.map(({title:r,text:a,images:c})=>i`<section><h3>${r}</h3><${cn} text=${a} images=${c} /></section>`)}
      <div class="outputs">
        ${t.outputs.map((r,a)=>i`
          <section class="output"><h3>${s[a]}</h3>
            ${r.steps&&i`<details><summary>Steps</summary><${cn} text=${r.steps} /></details>`}
            <${cn} text=${r.text} images=${r.images} /></section>`)}
      </div>
    </div>`}function cn({text:e,images:t}){return i`<div class="foreign">${e.split(/\n{2,}/).map(n=>i`<p dir="auto">${n}</p>`)}<${Bt} images=${t} /></div>`}var cs=[{value:"first",name:"First is better"},{value:"second",name:"Second is better"},{value:"tie",name:"Equally good"}];function $a({task:e,criterion:t,place:n,isActive:o,isGap:s,answer:r,activate:a,choose:c,comment:u,next:d}){let f=`question-${n}`,$=e.pairs?cs.map(({value:l,name:h})=>({value:l,shown:h,name:"",about:""})):t.levels,p=!e.pairs&&yt(t);return i`
    <section class=${o?"question active":"question"} data-place=${n} aria-labelledby=${f} onFocusIn=${a}>
      <h3 id=${f} tabindex="-1"><button class="plain" aria-expanded=${o} onClick=${a}>${t.name??"Preference"}</button>
        <span class=${s?"note":"pass"}>${s?De(r)?"reason missing":"open":"✓"}</span></h3>
      ${o&&i`<${is} criterion=${t} />`}
      ${$.length?i`<div class="scale" role="radiogroup" aria-labelledby=${f}>
            ${$.map((l,h)=>i`
              <button role="radio" aria-checked=${String(r?.choice===l.value)} onClick=${()=>c(n,l.value,l.shown)}>
                ${(p||!l.name)&&i`<strong>${l.shown}</strong>`}
                ${p&&l.name&&" "}${l.name&&i`<span>${l.name}</span>`}
                ${!p&&o&&i` <kbd aria-hidden="true">${h+1}</kbd>`}</button>`)}
            <button role="radio" class="cannot" aria-checked=${String(!!r?.cannot)}
              onClick=${()=>c(n,null,"Cannot judge")}><span>Cannot judge</span> ${o&&i`<kbd aria-hidden="true">0</kbd>`}</button>
          </div>`:i`<${ma} criterion=${t} answer=${r} place=${n} choose=${c} />`}
      ${(o||r?.comment)&&i`
        <label class="comment"><span>${e.reason?"Reason (required)":"Comment (optional)"}</span>
          <textarea rows="2" value=${r?.comment??""} onInput=${l=>u(l.currentTarget.value,!0)} onChange=${l=>u(l.currentTarget.value)}
            onKeyDown=${l=>{l.key==="Enter"&&!l.shiftKey&&!l.isComposing&&!l.ctrlKey&&!l.metaKey&&(l.preventDefault(),l.currentTarget.blur(),d())}}></textarea></label>`}
    </section>`}function ma({criterion:e,answer:t,place:n,choose:o}){let[s,r]=w(t?.choice??""),[a,c]=w("");function u(d){d.preventDefault();let f=Number(s);if(s===""||!(f>=e.min&&f<=e.max)||e.whole&&!Number.isInteger(f)){c(`Type a ${e.whole?"whole number":"number"} from ${e.min} to ${e.max}.`);return}c(""),d.currentTarget.querySelector("input").blur(),o(n,f,String(f))}return i`<form class="scale" onSubmit=${u} novalidate>
    <label>Score, ${e.min} to ${e.max} <input type="number" step="any" min=${e.min} max=${e.max}
      value=${s} onInput=${d=>r(d.currentTarget.value)} /></label>
    <button>Set</button>
    <button type="button" class="cannot" aria-pressed=${!!t?.cannot} onClick=${()=>o(n,null,"Cannot judge")}>Cannot judge</button>
    <p class="fail" role="alert">${a}</p></form>`}function ha({task:e,hasKeys:t,setHasKeys:n,close:o}){return i`<section class="help" aria-label="Keys"><${ls} task=${e} isOpen />
    <label><input type="checkbox" checked=${t} onChange=${s=>n(s.currentTarget.checked)} /> Single keys are on</label>${" "}
    <button onClick=${o}>Close</button></section>`}function ga({task:e,items:t,work:n,go:o,save:s,leave:r,isPractice:a,isStored:c}){let u=M(null);if(Y(()=>u.current?.focus(),[]),a)return i`<section class="end"><h2 ref=${u} tabindex="-1">That was the practice item</h2>
      <button class="main" onClick=${r}>Back to the start</button></section>`;let d=t.map((l,h)=>[l,h]).filter(([l])=>!bt(e,n,l)),f=t.map((l,h)=>[l,h]).filter(([l])=>n.flags[l.id]?.on),$=t.reduce((l,h)=>l+Object.values(n.answers[h.id]??{}).filter(g=>g.cannot).length,0),p=(l,h)=>h.length>0&&i`<h3>${l}</h3><p class="jumps">${h.map(([,g])=>i`<button onClick=${()=>o(g)}>Item ${g+1}</button>`)}</p>`;return i`
    <section class="end">
      <h2 ref=${u} tabindex="-1">${d.length?`${wt(d.length,"item is","items are")} not finished`:"All items are done"}</h2>
      ${$>0&&i`<p>You could not judge ${wt($,"criterion","criteria")}; that is recorded as such.</p>`}
      ${p("Not finished",d)}
      ${p("Flagged",f)}
      ${c?i`<p>Every answer is stored. You can close this page.</p>`:i`<p>${e.adjudicates?"Save the file, and join it with the files of the annotators: judgekit label --merge.":"Save the file and send it back to whoever gave you this page."}</p><button class="main" onClick=${s}>Save file</button>`}
    </section>`}var us=Sn(),un=document.getElementById("cases");if(us&&un){un.querySelector(".static").classList.add("print-only");let e=document.createElement("div");e.className="screen-only",un.querySelector(".static").before(e),ee(i`<${vo} index=${us} />`,e)}wo();yo();ko(document);Ho();Ko();Jo();rs();})();
