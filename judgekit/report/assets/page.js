/* judgekit, with preact, htm, diff: licences in LICENSES.txt */
(()=>{var q,fn,fs,$e,kt,et,pn,Qe,$n,Ct,xt,ps,qe=Symbol.for("pv"),tt={},nt=[],$s=/^m(i|n|o|s|text|space)$/,St=Array.isArray,Et=nt.slice,ye=Object.assign;function ve(e){e&&e.parentNode&&e.remove()}function mn(e,t,n){var o,s,r,a={},c=arguments.length;for(r in t)r=="key"?o=t[r]:r=="ref"&&typeof e!="function"?s=t[r]:a[r]=t[r];return c>2&&(a.children=c>3?Et.call(arguments,2):n),We(e,a,o,s,null)}function We(e,t,n,o,s){var r={type:e,props:t,key:n,ref:o,__k:null,__:null,__b:0,__e:null,__c:null,constructor:qe,__v:s||++fn,__i:-1,__u:0};return!s&&q.vnode&&q.vnode(r),r}function ot(e){return e.children}function Xe(e,t){this.props=e,this.context=t,this.__g=0}function me(e,t){if(t==null)return e.__&&me(e.__,e.__i+1);for(var n;t<e.__k.length;t++)if((n=e.__k[t])&&n.__e)return n.__e;return typeof e.type!="function"||e.props.__P?null:me(e)}function ms(e){var t,n=e.__v,o=n.__e,s=[],r=[],a=e.__P;a&&((t=ye({constructor:qe},n)).__v=n.__v+1,q.vnode&&q.vnode(t),Tt(a,t,n,e.__n,a.namespaceURI,32&n.__u?[o]:null,s,o||me(n),32&n.__u,r),t.__v=n.__v,t.__.__k[t.__i]=t,yn(s,t,r),n.__=n.__e=null,t.__e!=o&&hn(t))}function hn(e){if((e=e.__)&&e.__c&&!e.props.__P)return e.__e=null,e.__k.some(function(t){return t&&(e.__e=t.__e)}),hn(e)}function un(e){(8&e.__g||(e.__g|=8,$e.push(e),et++))&&kt==q.debounceRendering||((kt=q.debounceRendering)||queueMicrotask)(gn)}function gn(){try{for(var e,t=1;$e.length;)$e.length>t&&$e.sort(pn),e=$e.shift(),t=$e.length,8&e.__g&&ms(e)}finally{(et=$e.length)&&(kt||queueMicrotask)(gn)}}function _n(e,t,n,o,s,r,a,c,u,f,d){var $,p,l,h,m,C,x=o.__k||nt,_=t.length;for(u=hs(n,t,x,u,_),$=0;$<_;$++)(l=n.__k[$])!=null&&(p=~l.__i&&x[l.__i]||tt,l.__i=$,C=Tt(e,l,p,s,r,a,c,u,f,d),h=l.__e,(p.ref!=l.ref||8&p.__u)&&(p.ref&&Pt(p.ref,null,l,p),l.ref&&d.push(l.ref,l.__c||h,l)),m=m||h,4&l.__u?(u=bn(l,u,e,!p.__v),p.__e&&(p.__e=null)):typeof l.type=="function"&&C!==void 0?u=C:h&&(u=h.nextSibling),l.__u&=-21);return n.__e=m,u}function hs(e,t,n,o,s){var r,a,c,u,f,d,$,p,l,h=n.length,m=h,C=0,x=0,_=e.__k=Array(s);for(r=0;r<s;r++)(a=t[r])!=null&&typeof a!="boolean"&&typeof a!="function"?(typeof a!="object"||a.constructor===String?a=_[r]=We(null,a):St(a)?a=_[r]=We(ot,{children:a}):a.constructor===qe&&a.__b?a=_[r]=We(a.type,a.props,a.key,a.ref,a.__v):_[r]=a,u=r+C,a.__=e,a.__b=e.__b+1,c=null,~(f=a.__i=gs(a,n,u,m))&&(m--,(c=n[f])&&(c.__u|=2)),c&&c.__v?(a.__u|=16,f==u-1?C--:f==u+1?C++:f!=u&&(f>u?C--:C++,x=1)):(~f||(s>h?C--:s<h&&C++),typeof a.type!="function"&&(a.__u|=4))):_[r]=null;if(x){for(d=[],$=[],r=0;r<s;r++)if((a=_[r])&&16&a.__u){for(C=0,p=d.length;C<p;)d[l=C+p>>1]<a.__i?C=l+1:p=l;d[C]=a.__i,$[r]=C+1}for(C=d.length;r--;)$[r]&&($[r]==C?C--:_[r].__u|=4)}if(m)for(r=0;r<h;r++)!(c=n[r])||2&c.__u||(c.__e==o&&(o=me(c)),Ot(c,c));return o}function bn(e,t,n,o){var s,r,a,c;if(typeof e.type=="function"){if(e.props.__P)return t;if(s=e.__k)for(r=0;r<s.length;r++)s[r]&&(s[r].__=e,t=bn(s[r],t,n,!1));return t}for(t&&!t.parentNode&&(t=me(e))&&!t.parentNode&&(t=null),a=e.__e,c=t;c&&c.nodeType==8;)c=c.nextSibling;for(a!=c&&(!o&&n.moveBefore&&a.parentNode?n.moveBefore(a,t):n.insertBefore(a,t||null)),t=a;(t=t&&t.nextSibling)&&t.nodeType==8&&!t.data.startsWith("$s"););return t}function gs(e,t,n,o){var s,r=e.key,a=e.type,c=t[n],u=c&&!(2&c.__u);if(c===null&&r==null||u&&r==c.key&&a==c.type)return n;if(o>(u?1:0)){for(s=n-1;s>=0;s--)if((c=t[s])&&!(2&c.__u)&&r==c.key&&a==c.type)return s;for(s=n+1;s<t.length;s++)if((c=t[s])&&!(2&c.__u)&&r==c.key&&a==c.type)return s}return-1}function dn(e,t,n){n==null&&(n=""),t[0]=="-"?e.setProperty(t,n):e[t]=n}function Ye(e,t,n,o,s){var r,a;if(t=="style")if(typeof n=="string")e.style.cssText=n;else{if(typeof o=="string"&&(e.style.cssText=o=""),o)for(t in o)n&&t in n||dn(e.style,t);if(n)for(t in n)o&&n[t]==o[t]||dn(e.style,t,n[t])}else if(t[0]=="o"&&t[1]=="n")typeof n!="function"&&(n=null),typeof o!="function"&&(o=null),(e.__e||(e.__e={}))[t]=n,n&&o||(a=xt[t]||(xt[t]=_s(t)),(e.__a||(e.__a={}))[t]=Ct,r=t!=(t=t.replace($n,"$1")),(t=t.slice(2))[0]<"a"&&(t=t.toLowerCase()),n?e.addEventListener(t,a,r):e.removeEventListener(t,a,r));else{if(s=="http://www.w3.org/2000/svg")t=t.replace(/xlink(H|:h)/,"h").replace(/sName$/,"s");else if(t!="width"&&t!="height"&&t!="href"&&t!="list"&&t!="form"&&t!="tabIndex"&&t!="download"&&t!="rowSpan"&&t!="colSpan"&&t!="role"&&t!="popover"&&t in e)try{return void(e[t]=n??"")}catch{}if(typeof n=="function")return;n==null||n===!1&&t[4]!="-"?e.removeAttribute(t):e.setAttribute(t,t=="popover"&&n==1?"":n)}}function _s(e){return function(t){var n=this.__e;if(n){if(n=n[e],t[Qe]==null)t[Qe]=Ct++;else if(t[Qe]<this.__a[e])return;return n(q.event?q.event(t):t)}}}function Tt(e,t,n,o,s,r,a,c,u,f){var d,$,p,l,h,m,C,x,_,y,S,I,O,W,b,g,w,P,D=t.type;if(t.constructor!==qe)return null;128&n.__u&&(u=32&n.__u,d=n.__c.__z)&&(t.__u|=u,$=r=[],d.nodeType==8?c=Ze(d,r):r.push(d),c=r[0]||c),(d=q.__b)&&d(t);e:if(typeof D=="function"){p=a.length;try{if(x=t.props,_=(d=D.prototype)&&d.render,y=(d=D.contextType)&&o[d.__c],S=d?y?y.props.value:d.__:o,(l=n.__c)?(t.__c=l,2&l.__g&&(l.__g|=1)):(_?t.__c=l=new D(x,S):(t.__c=l=new Xe(x,S),l.constructor=D,l.render=vs),y&&y.sub(l),l.state||(l.state={}),l.__n=o,l.__g|=8,l.__h=[],l.__k=[]),_&&(l.__s||(l.__s=l.state),D.getDerivedStateFromProps&&(l.__s==l.state&&(l.__s=ye({},l.__s)),ye(l.__s,D.getDerivedStateFromProps(x,l.__s)))),h=l.props,m=l.state,l.__v=t,n.__c){if(x!==h&&_&&!D.getDerivedStateFromProps&&l.componentWillReceiveProps&&l.componentWillReceiveProps(x,S),t.__v==n.__v&&!(8&l.__g)||!(4&l.__g)&&l.shouldComponentUpdate&&l.shouldComponentUpdate(x,l.__s,S)===!1){t.__v!=n.__v&&(l.props=x,l.state=l.__s,l.__g&=-9),t.__e=n.__e,t.__k=n.__k,t.__k.some(function(N){N&&(N.__=t)}),nt.push.apply(l.__h,l.__k),l.__k=[],l.__h.length&&a.push(l),c=me(n);break e}l.componentWillUpdate&&l.componentWillUpdate(x,l.__s,S),_&&l.componentDidUpdate&&l.__h.push(function(){l.componentDidUpdate(h,m,C)})}else _&&!D.getDerivedStateFromProps&&l.componentWillMount&&l.componentWillMount(),_&&l.componentDidMount&&l.__h.push(l.componentDidMount);l.context=S,l.props=x,l.__P=e,l.__g&=-5,I=q.__r,O=_?25:0;do l.__g&=-9,I&&I(t),d=l.render(l.props,l.state=l.__s,l.context);while(8&l.__g&&++O<25);_&&(nt.push.apply(l.__h,l.__k),l.__k=[]),l.state=l.__s,l.getChildContext&&(o=ye({},o,l.getChildContext())),_&&n.__c&&l.getSnapshotBeforeUpdate&&(C=l.getSnapshotBeforeUpdate(h,m)),W=d&&d.type===ot&&d.key==null?d.props.children:d,x.__P&&(d=c,s=(e=x.__P).namespaceURI,u=r=null,n.props&&n.props.__P!=e&&(n.__k.some(function(N){N&&Ot(N,N)}),n.__k=null),c=n.__k?me(n,0):null),c=_n(e,St(W)?W:[W],t,n,o,s,r,a,c,u,f),x.__P&&(t.__e=null,c=d),t.__u&=-161,$&&$.some(ve),l.__h.length&&a.push(l),1&l.__g&&(l.__g&=-4)}catch(N){if(a.length=p,t.__v=null,u||r)if(N&&N.then){if(t.__u|=128|u,r){for(~(w=r.indexOf(c||void 0))||(w=r.length);(P=r[w-1])&&P.nodeType==8;)w--;for(;w<r.length;w++)if(P=r[w])if(r[w]=null,b){if(P==g)break}else{if(P.nodeType!=8)break;P.data.startsWith("$s")&&(g=Ze(b=P))}}if(!b){for(;c&&c.nodeType==8&&c.nextSibling;)c=c.nextSibling;b=c}(d=Ze(b=t.__c.__z||(t.__c.__z=b)))?(t.__e=b,c=d):t.__e=c,c=c&&c.nextSibling}else r&&r.some(ve);else t.__e=n.__e;t.__k||(t.__k=n.__k||[]),N&&N.then||vn(t),q.__e(N,t,n)}}else c=t.__e=bs(n.__e,t,n,o,s,r,a,u,f,e);return(d=q.diffed)&&d(t),c}function Ze(e,t){if(e&&e.nodeType==8&&e.data.startsWith("$s"))for(var n=1;e=e.nextSibling;){if(e.nodeType==8){if(e.data.startsWith("$s"))n++;else if(e.data.startsWith("/$s")&&!--n)return e}t&&t.push(e)}}function vn(e){e&&(e.__c&&(e.__c.__g|=4),e.__k&&e.__k.some(vn))}function yn(e,t,n){for(var o=0;o<n.length;)Pt(n[o++],n[o++],n[o++]);q.__c&&q.__c(t,e),e.some(function(s){try{e=s.__h,s.__h=[],e.some(function(r){r.call(s)})}catch(r){q.__e(r,s.__v)}})}function bs(e,t,n,o,s,r,a,c,u,f){var d,$,p,l,h,m,C,x,_=n.props||tt,y=t.props,S=t.type;if(S=="svg"?s="http://www.w3.org/2000/svg":S=="math"?s="http://www.w3.org/1998/Math/MathML":s||(s="http://www.w3.org/1999/xhtml"),r){for(d=0;d<r.length;d++)if((h=r[d])&&(S?h.localName==S:h.nodeType==3)){e=h,r[d]=null;break}}if(!e){if(x=f.ownerDocument||document,!S)return x.createTextNode(y);e=x.createElementNS(s,S,y.is?y:f),c&&(q.__m&&q.__m(t,r),c=!1),r=null}if(S){if(f=S=="template"&&e.content||e,r=S=="textarea"&&y.defaultValue!=null?null:r&&Et.call(f.childNodes),!c&&r)for(_={},d=0;d<e.attributes.length;d++)_[(h=e.attributes[d]).name]=h.value;for(d in _)h=_[d],d=="dangerouslySetInnerHTML"?p=h:d=="children"||d in y||d=="value"&&"defaultValue"in y||d=="checked"&&"defaultChecked"in y||Ye(e,d,null,h,s);for(d in y)h=y[d],d=="children"?l=h:d=="dangerouslySetInnerHTML"?$=h:d=="value"?m=h:d=="checked"?C=h:c&&typeof h!="function"||_[d]===h||Ye(e,d,h,_[d],s);$?(c||p&&($.__html==p.__html||$.__html==e.innerHTML)||(e.innerHTML=$.__html),t.__k=[]):(p&&(e.textContent=""),(S=="foreignObject"||s=="http://www.w3.org/1998/Math/MathML"&&$s.test(S))&&(s="http://www.w3.org/1999/xhtml"),_n(f,St(l)?l:[l],t,n,o,s,r,a,r?r[0]:n.__k&&me(n,0),c,u),r&&r.some(ve)),c&&S!="textarea"||(d="value",S=="progress"&&m==null?e.removeAttribute(d):m==null||m===e[d]&&(S!="progress"||m)||Ye(e,d,m,_[d],s),d="checked",C!=null&&C!=e[d]&&Ye(e,d,C,_[d],s))}else _===y||c&&e.data==y||(e.data=y);return e}function Pt(e,t,n,o){try{typeof e=="function"?t?t.__x=e(t)||1:o&&(o=o.__c||o.__e)&&(t=o.__x)&&(o.__x=null,typeof t=="function"?t():e(null)):e.current=t}catch(s){q.__e(s,n)}}function Ot(e,t,n){var o,s,r,a;if(q.unmount&&q.unmount(e),!(o=e.ref)||o.current&&o.current!=e.__e||Pt(o,null,t,e),o=e.__c){if(o.componentWillUnmount)try{o.componentWillUnmount()}catch(c){q.__e(c,t)}o.__P=o.__n=null}if(o=e.__k)for(a=0;a<o.length;a++)o[a]&&Ot(o[a],t,typeof e.type!="function"||n&&!e.props.__P);!n&&(o=e.__c)&&(o=o.__z)&&(s=Ze(o,r=[]))&&(o==e.__e&&r.some(ve),ve(s),ve(o)),n||ve(e.__e),e.__e=e.__c=e.__=null}function vs(e,t,n){return this.constructor(e,n)}function ee(e,t){var n,o,s,r;q.__&&q.__(e,t),t.nodeType==9&&(t=t.documentElement),o=(n=e&&32&e.__u)?null:t.__k,t.__k=We(ot,{children:[e]}),s=[],r=[],Tt(t,t.__k,o||tt,tt,t.namespaceURI,o?null:t.firstChild?Et.call(t.childNodes):null,s,o?o.__e:t.firstChild,n,r),yn(s,t.__k,r),t.__k.props.children=null}q={__e:function(e,t,n,o){for(var s,r,a;t=t.__;)if((s=t.__c)&&!(1&s.__g)){s.__g|=4;try{if((a=(r=s.constructor)&&r.getDerivedStateFromError)&&s.setState(r.getDerivedStateFromError(e)),s.componentDidCatch&&(s.componentDidCatch(e,o||{}),a=1),a&&8&s.__g)return void(s.__g|=2)}catch(c){e=c}}throw et=0,e}},fn=0,fs=function(e){return e!=null&&e.constructor===qe},Xe.prototype.setState=function(e,t){var n=this.__s;n&&n!=this.state||(n=this.__s=ye({},this.state)),typeof e=="function"&&(e=e(ye({},n),this.props)),e&&(ye(n,e),this.__v&&(t&&this.__k.push(t),un(this)))},Xe.prototype.forceUpdate=function(e){this.__v&&(this.__g|=4,e&&this.__h.push(e),un(this))},Xe.prototype.render=ot,$e=[],et=0,pn=function(e,t){return e.__v.__b-t.__v.__b},Qe=Symbol(),$n=/(PointerCapture)$|Capture$/i,Ct=0,xt={},ps=0;var kn=function(e,t,n,o){var s;t[0]=0;for(var r=1;r<t.length;r++){var a=t[r++],c=t[r]?(t[0]|=a?1:2,n[t[r++]]):t[++r];a===3?o[0]=c:a===4?o[1]=Object.assign(o[1]||{},c):a===5?(o[1]=o[1]||{})[t[++r]]=c:a===6?o[1][t[++r]]+=c+"":a?(s=e.apply(c,kn(e,c,n,["",null])),o.push(s),c[0]?t[0]|=2:(t[r-2]=0,t[r]=s)):o.push(c)}return o},wn=new Map;function xn(e){var t=wn.get(this);return t||(t=new Map,wn.set(this,t)),(t=kn(this,t.get(e)||(t.set(e,t=(function(n){for(var o,s,r=1,a="",c="",u=[0],f=function(p){r===1&&(p||(a=a.replace(/^\s*\n\s*|\s*\n\s*$/g,"")))?u.push(0,p,a):r===3&&(p||a)?(u.push(3,p,a),r=2):r===2&&a==="..."&&p?u.push(4,p,0):r===2&&a&&!p?u.push(5,0,!0,a):r>=5&&((a||!p&&r===5)&&(u.push(r,0,a,s),r=6),p&&(u.push(r,p,0,s),r=6)),a=""},d=0;d<n.length;d++){d&&(r===1&&f(),f(d));for(var $=0;$<n[d].length;$++)o=n[d][$],r===1?o==="<"?(f(),u=[u],r=3):a+=o:r===4?a==="--"&&o===">"?(r=1,a=""):a=o+a[0]:c?o===c?c="":a+=o:o==='"'||o==="'"?c=o:o===">"?(f(),r=1):r&&(o==="="?(r=5,s=a,a=""):o==="/"&&(r<5||n[d][$+1]===">")?(f(),r===3&&(u=u[0]),r=u,(u=u[0]).push(2,0,r),r=0):o===" "||o==="	"||o===`
`||o==="\r"?(f(),r=2):a+=o),r===3&&a==="!--"&&(r=4,u=u[0])}return f(),u})(e)),t),arguments,[])).length>1?t:t[0]}var i=xn.bind(mn);var ys="judgekit-page/1";function Cn(){let e=document.getElementById("page-index");if(!e)return null;let t=JSON.parse(e.textContent);return t.format===ys?t:null}async function ws(e){let t=Uint8Array.from(atob(e),o=>o.charCodeAt(0)),n=new Blob([t]).stream().pipeThrough(new DecompressionStream("gzip"));return JSON.parse(await new Response(n).text())}async function ks(e){let t=await fetch(e);if(!t.ok)throw new Error(await t.text()||`the server answered ${t.status}`);return t.json()}var we=new Map,xs=8;function Sn(e){let t=we.get(e);if(!t){let n=document.getElementById(`chunk-${e}`),o=document.getElementById("page-index").dataset.chunks;t=n?ws(n.textContent):ks(`${o}${e}`),t.catch(()=>we.delete(e))}return we.delete(e),we.set(e,t),we.size>xs&&we.delete(we.keys().next().value),t}async function En(e,t){return(await Sn(Math.floor(t/e.chunk)))[t%e.chunk]}var Lt=[];function*Tn(e){if(typeof e=="string")yield e;else if(e&&typeof e=="object")for(let t of Object.values(e))yield*Tn(t)}function At(e,t){return Lt[t*e.chunk]!==void 0}async function Pn(e,t){let n=t*e.chunk;return At(e,t)||(await Sn(t)).forEach((s,r)=>{Lt[n+r]=[...Tn(s)].join(`
`).toLowerCase()}),Lt.slice(n,n+e.chunk)}var ke,K,It,On,Mt=Object.is,Be=0,Wn=[],jt=[],U=q,Ln=U.__b,An=U.__r,In=U.diffed,Mn=U.__c,jn=U.unmount,Nn=U.__;function He(e,t){U.__h&&U.__h(K,e,Be||t),Be=0;var n=K.__H||(K.__H={__:[],__h:[]});return e>=n.__.length&&n.__.push({}),n.__[e]}function k(e){return Be=1,Cs(Fn,e)}function Cs(e,t,n){var o=He(ke++,2);if(o.t=e,!o.__c&&(o.__=[n?n(t):Fn(void 0,t),function(r){var a=(o.__N||o.__)[0],c=o.t(a,r);Mt(a,c)||(o.__N=[c,o.__[1]],o.__c.setState({}))}],o.__c=K,!K.__f)){K.__f=!0;var s=K.shouldComponentUpdate;K.shouldComponentUpdate=function(r,a,c){var u=this.__H;if(!u)return!0;var f=!1,d=this.props!=r;if(u.__.some(function(p){p.__N&&(f=!0,Mt(p.__[0],p.__N[0])||(d=!0))}),s){var $=s.call(this,r,a,c);return f?$||d:$}return!f||d}}return o.__}function j(e,t){var n=He(ke++,3);!U.__s&&Dt(n.__H,t)&&(n.__P=!0,n.__=e,n.u=t,K.__H.__h.push(n))}function X(e,t){var n=He(ke++,4);!U.__s&&Dt(n.__H,t)&&(n.__P=!1,n.__=e,n.u=t,K.__h.push(n))}function A(e){return Be=5,J(function(){return{current:e}},[])}function J(e,t){var n=He(ke++,7);return Dt(n.__H,t)&&(n.__=e(),n.__H=t),n.__}function qn(e,t){return Be=8,J(function(){return e},t)}function he(){var e=He(ke++,11);if(!e.__){for(var t=K.__v;!t.__m&&t.__;)t=t.__;var n=t.__m||(t.__m=[0,0]);e.__="P"+n[0]+"-"+n[1]++}return e.__}function Ss(){var e;do{for(;e=jt.shift();)try{Fe(e)}catch(n){U.__e(n,{__:(e=e.__P)&&e.__v})}for(;e=Wn.shift();){var t=e.__H;if(e.__P&&t)try{t.__h.some(Fe),t.__h.some(Nt),t.__h=[]}catch(n){t.__h=[],U.__e(n,e.__v)}}}while(jt.length)}U.__b=function(e){K=null,Ln&&Ln(e)},U.__=function(e,t){e&&t.__k&&t.__k.__m&&(e.__m=t.__k.__m),Nn&&Nn(e,t)},U.__r=function(e){An&&An(e),ke=0;var t=(K=e.__c).__H;t&&(It==K?K.__h=[]:(t.__h.some(Fe),t.__h.some(Nt),ke=0),t.__h=[],t.__.some(function(n){n.__N&&(n.__=n.__N),n.u=n.__N=void 0})),It=K},U.diffed=function(e){In&&In(e);var t=e.__c;t&&t.__H&&(t.__H.__h.length&&Rn(Wn.push(t)),t.__H.__.some(function(n){n.u&&(n.__H=n.u)})),It=K=null},U.__c=function(e,t){t.some(function(n){try{n.__h.some(Fe),n.__h=n.__h.filter(function(o){return!o.__||Nt(o)})}catch(o){n.__h=[function(){throw o}]}}),Mn&&Mn(e,t)},U.unmount=function(e){jn&&jn(e);var t,n,o=e.__c;o&&o.__H&&(o.__H.__.some(function(s){try{if(s.__P&&s.__c){if(n===void 0){for(n=e.__;n&&(!n.__c||!n.__c.__P);)n=n.__;n=n&&n.__c}s.__P=n,Rn(jt.push(s))}else Fe(s)}catch(r){t=r}}),o.__H=void 0,t&&U.__e(t,o.__v))};var Dn=typeof requestAnimationFrame=="function";function Es(e){var t,n=function(){clearTimeout(o),Dn&&cancelAnimationFrame(t),setTimeout(e)},o=setTimeout(n,35);Dn&&(t=requestAnimationFrame(n))}function Rn(e){e!=1&&On==U.requestAnimationFrame||((On=U.requestAnimationFrame)||Es)(Ss)}function Fe(e){var t=K,n=e.__c;typeof n=="function"&&(e.__c=void 0,n()),K=t}function Nt(e){var t=K;e.__c=e.__(),K=t}function Dt(e,t){return!e||e.length!=t.length||t.some(function(n,o){return!Mt(n,e[o])})}function Fn(e,t){return typeof t=="function"?t(e):t}var Bn=["case","state","variant","tag","stratum","q","sort","answer","with"];function Le(){let e=new URLSearchParams(location.hash.slice(1));return Object.fromEntries(Bn.filter(t=>e.get(t)).map(t=>[t,e.get(t)]))}function Rt(e){let t=new URLSearchParams;for(let o of Bn)e[o]&&t.set(o,e[o]);let n=t.toString();return n?`#${n}`:""}function Wt(e){return location.href.split("#")[0]+Rt(e)}function Hn(){let[e,t]=k(Le);j(()=>{let o=()=>t(Le());return addEventListener("popstate",o),addEventListener("hashchange",o),()=>{removeEventListener("popstate",o),removeEventListener("hashchange",o)}},[]);let n=qn((o,{push:s=!1}={})=>{let r={...Le(),...o},a=Wt(r);s?history.pushState({pushed:!0},"",a):history.replaceState(history.state,"",a),t(Le())},[]);return[e,n]}function Ae(e){let[t,n]=k(()=>matchMedia(e).matches);return j(()=>{let o=matchMedia(e),s=()=>n(o.matches);return o.addEventListener("change",s),()=>o.removeEventListener("change",s)},[e]),t}var Un=2,Ts=150;function Ps(e){return J(()=>e.ids.map((t,n)=>[t,e.snippets[n],e.strata[n]??"",...e.tags[n]].join(`
`).toLowerCase()),[e])}var Os=()=>new Promise(e=>{globalThis.requestIdleCallback?requestIdleCallback(e,{timeout:100}):setTimeout(e)});function Kn(e,t){let n=(t??"").trim().toLowerCase(),o=Ps(e),s=J(()=>{if(!n)return null;let c=new Set;return o.forEach((u,f)=>u.includes(n)&&c.add(f)),c},[o,n]),[r,a]=k({needle:"",hits:new Set,share:1});return j(()=>{if(n.length<Un)return;let c=!0,u=Math.ceil(e.n/e.chunk);async function f(){let d=new Set,$=performance.now();for(let p=0;p<u;p+=1){At(e,p)||await Os();let l=await Pn(e,p);if(!c)return;l.forEach((m,C)=>m.includes(n)&&d.add(p*e.chunk+C));let h=performance.now();p+1<u&&h-$<Ts||($=h,a({needle:n,hits:new Set(d),share:(p+1)/u}))}}return f().catch(d=>c&&a({needle:n,hits:new Set,share:1,error:d})),()=>{c=!1}},[e,n]),J(()=>s?r.needle!==n?{hits:s,share:n.length<Un?1:0}:{hits:r.hits.union?.(s)??new Set([...s,...r.hits]),share:r.share,error:r.error}:{hits:null,share:1},[s,r,n])}function Ls(e,t){if(!t)return e.order;let n=t.startsWith("-"),o=n?t.slice(1):t,s=e.columns.indexOf(o.replace(/^variant:/,"")),r=n?-1:1;if(o==="case"){let c=new Intl.Collator(void 0,{numeric:!0}).compare;return[...e.order].sort((u,f)=>r*c(e.ids[u],e.ids[f]))}if(s<0)return e.order;let a=e.cells[s].value;return[...e.order].sort((c,u)=>a[c]===null||a[u]===null?(a[c]===null)-(a[u]===null):r*(a[c]-a[u]))}function Jn(e,t,n){let o=J(()=>Ls(e,t.sort),[e,t.sort]);return J(()=>{let s=e.columns.indexOf(t.variant),r=s<0?null:e.cells[s],a=e.filters.find(d=>d.key===t.state)?.bit??0,c=Object.fromEntries(e.filters.map(d=>[d.key,0])),u=[],f=0;for(let d of o){if(n&&!n.has(d)||r&&r.state[d]===null||t.tag&&!e.tags[d].includes(t.tag)||t.stratum&&e.strata[d]!==t.stratum)continue;let $=r?r.mask[d]:e.masks[d];f+=1;for(let p of e.filters)$&p.bit&&(c[p.key]+=1);(!a||$&a)&&u.push(d)}return{rows:u,counts:c,all:f}},[e,o,t.state,t.variant,t.tag,t.stratum,n])}function Vn(e){let t=new Map;for(let n of e)t.set(n,(t.get(n)??0)+1);return[...t].sort(([n],[o])=>n.localeCompare(o))}function st({label:e,value:t,options:n,onChoose:o}){return i`<label class="choice">
    <span>${e}</span>
    <select value=${t??""} onChange=${s=>o(s.target.value)}>
      ${n.map(([s,r])=>i`<option value=${s} selected=${s===(t??"")}>${r}</option>`)}
    </select>
  </label>`}function zn({filter:e,n:t,isOn:n,onClick:o}){return i`<button type="button" aria-pressed=${n} title=${e.title||null} disabled=${t===0&&!n} onClick=${o}>
    ${e.label} <span class="n">${t.toLocaleString("en")}</span>
  </button>`}function Gn({index:e,state:t,change:n,selection:o,search:s,searchBox:r,onFound:a,onHelp:c}){let u=Ae("(max-width: 44rem)"),[f,d]=k(!1),$=J(()=>Vn(e.tags.flat()),[e]),p=J(()=>Vn(e.strata.filter(y=>y!==null)),[e]),l=y=>S=>n({[y]:S},{push:!0}),h=(y,S)=>[["",S],...y.map(([I,O])=>[I,`${I} (${O.toLocaleString("en")})`])],m=[["","what needs attention first"],["case","by case"],...e.columns.flatMap(y=>[[`variant:${y}`,`${y}, lowest first`],[`-variant:${y}`,`${y}, highest first`]])],C=["variant","tag","stratum","sort"].filter(y=>t[y]).length,x=y=>{y.key!=="Escape"&&y.key!=="Enter"||(y.preventDefault(),y.target.blur(),y.key==="Enter"&&a())},_=Math.floor(s.share*100);return i`<div class="filters" role="search" aria-label="Cases">
    <div class="states" role="group" aria-label="Show">
      <${zn} filter=${{label:"All"}} n=${o.all} isOn=${!t.state}
        onClick=${()=>l("state")("")} />
      ${e.filters.map(y=>i`<${zn} key=${y.key} filter=${y}
        n=${o.counts[y.key]} isOn=${t.state===y.key}
        onClick=${()=>l("state")(t.state===y.key?"":y.key)} />`)}
    </div>
    <div class="searching">
      <input type="search" ref=${r} value=${t.q??""} placeholder="Search ids and all texts"
        aria-label="Search ids and all texts" onInput=${y=>n({q:y.target.value})}
        onKeyDown=${x} />
      ${u&&i`<button type="button" aria-expanded=${f} onClick=${()=>d(!f)}>
        Filters${C>0&&` (${C})`}</button>`}
      <button type="button" onClick=${c} aria-label="Keyboard shortcuts" title="Keyboard shortcuts (?)">?</button>
    </div>
    ${(!u||f)&&i`<div class="choices">
      ${e.columns.length>1&&i`<${st} label="variant" value=${t.variant} onChoose=${l("variant")}
        options=${[["","any"],...e.columns.map(y=>[y,y])]} />`}
      ${$.length>0&&i`<${st} label="tag" value=${t.tag} onChoose=${l("tag")} options=${h($,"any")} />`}
      ${p.length>0&&i`<${st} label="stratum" value=${t.stratum} onChoose=${l("stratum")} options=${h(p,"any")} />`}
      <${st} label="order" value=${t.sort} onChoose=${l("sort")} options=${m} />
    </div>`}
    <p class="count">
      <span role="status">${o.rows.length.toLocaleString("en")} of ${e.n.toLocaleString("en")} ${e.n===1?"case":"cases"}</span>
      ${s.share<1&&i`<span class="progress">, searching all texts: ${_} %</span>`}
      ${s.error&&i`<span class="fail">, the texts could not be searched: ${s.error.message}</span>`}
      ${As(t)&&i` <button type="button" class="plain" onClick=${()=>n({state:"",variant:"",tag:"",stratum:"",q:"",sort:""},{push:!0})}>Show all</button>`}
    </p>
  </div>`}function As(e){return["state","variant","tag","stratum","q","sort"].some(t=>e[t])}var Is=34,Ms=108,Yn=8;function js(e,t){if(t===null)return 2;let n=e==="fail"?1-t:t;return 1+Math.min(3,Math.max(0,Math.floor(n*4)))}function Ns({index:e,column:t,row:n,isAt:o,tag:s="td"}){let r=e.cells[t],a=r.state[n],c=e.columns[t],u=s==="td"?"cell":null;if(a===null)return s==="td"&&i`<td role="cell" class=${o?"cell at":"cell"} data-column=${t}></td>`;let{label:f,sign:d,tone:$}=e.states[a],p=r.value[n],l=r.text[n]||(p===null?"":p.toFixed(2));return i`<${s} role=${u} class=${`cell ${$}-fill s${js($,p)}${o?" at":""}`}
    data-column=${t} title=${`${c}: ${f}`}>
    ${s!=="td"&&i`<bdi class="name">${c}</bdi> `}
    <span class=${`sign ${$}`} aria-hidden="true">${d}</span> ${l||i`<span class="word">${f}</span>`}
    ${l&&i`<span class="hidden">, ${f}</span>`}
  <//>`}function Qn({name:e,sortKey:t,state:n,change:o,className:s}){let r=n.sort===t,a=n.sort===`-${t}`,c=r?`-${t}`:a?"":t;return i`<th scope="col" role="columnheader" class=${s} aria-sort=${r?"ascending":a?"descending":null}>
    <button type="button" class="sort" title=${`Sort by ${e}`} onClick=${()=>o({sort:c},{push:!0})}>
      <bdi>${e}</bdi><span aria-hidden="true">${r?" ▲":a?" ▼":""}</span>
    </button>
  </th>`}function Xn({index:e,rows:t,state:n,change:o,active:s,setActive:r,column:a,openRow:c,focusing:u}){let f=A(null),d=A(!1),$=Ae("(max-width: 44rem)"),p=$?Ms:Is,[l,h]=k({top:0,height:800}),m=()=>{let{scrollTop:b,clientHeight:g}=f.current,w=Math.floor(b/p)*p;h(P=>P.top===w&&P.height===g?P:{top:w,height:g})};X(()=>{m();let b=new ResizeObserver(m);return b.observe(f.current),()=>b.disconnect()},[p,t.length]),X(()=>{f.current.scrollTop=0},[n.state,n.variant,n.tag,n.stratum,n.q,n.sort]),X(()=>{if(s<0)return;let{scrollTop:b,clientHeight:g}=f.current,w=s*p;w<b?f.current.scrollTop=w:w+2*p>b+g&&(f.current.scrollTop=w+2*p-g),m()},[s,p]);let C=Math.max(0,Math.floor(l.top/p)-Yn),x=Math.min(t.length,Math.ceil((l.top+l.height)/p)+Yn);j(()=>{if(u.current===s&&s>=C&&s<x){u.current=-1;let b=f.current.querySelector(`[data-place="${s}"]`);d.current=!0,b.querySelector("a").focus({preventScroll:!0}),d.current=!1,b.scrollIntoView({block:"nearest"})}});let _=e.tags.some(b=>b.length>0)||e.strata.some(b=>b!==null),y=2+(_?1:0)+e.columns.length,S=b=>i`<tr role="presentation" class="spacer" aria-hidden="true">
    <td role="presentation" colspan=${y} ref=${g=>g&&(g.style.height=`${b*p}px`)}></td></tr>`,I=b=>{b&&(b.style.minWidth=$?"":`${(_?540:420)+108*e.columns.length}px`)},O=b=>{let g=b.target.closest("tr[data-row]");if(!g||b.ctrlKey||b.metaKey||b.shiftKey||!getSelection().isCollapsed)return;b.preventDefault();let w=b.target.closest("[data-column]")?.dataset.column;r(Number(g.dataset.place)),c(Number(g.dataset.row),w===void 0?void 0:e.columns[w])},W=e.columns.length<=4&&e.columns.some(b=>b.length>12);return i`<div class=${W?"grid few":"grid"} ref=${f} onScroll=${m}>
    <table role="table" aria-label="Cases" aria-rowcount=${t.length+1} ref=${I} onClick=${O}>
      <colgroup><col class="c-id" /><col />${_&&i`<col class="c-tags" />`}
        ${e.columns.map(()=>i`<col class="c-value" />`)}</colgroup>
      <thead role="rowgroup"><tr role="row" aria-rowindex="1">
        <${Qn} name="case" sortKey="case" state=${n} change=${o} />
        <th scope="col" role="columnheader">input</th>
        ${_&&i`<th scope="col" role="columnheader">tags</th>`}
        ${e.columns.map(b=>i`<${Qn} key=${b} name=${b} sortKey=${`variant:${b}`} state=${n} change=${o} />`)}
      </tr></thead>
      <tbody role="rowgroup">
        ${C>0&&S(C)}
        ${t.slice(C,x).map((b,g)=>{let w=C+g,P=w===s,D=N=>e.columns.map((E,v)=>i`<${Ns} key=${E} tag=${N} index=${e} column=${v} row=${b} isAt=${P&&v===a} />`);return i`<tr key=${b} role="row" data-row=${b} data-place=${w} aria-rowindex=${w+2} class=${P?"active":null}>
            <th scope="row" role="rowheader" class="id"><a href=${Rt({...n,case:e.ids[b]})}
              tabindex=${P||s<0&&w===0?0:-1}
              onFocus=${()=>d.current||r(w)}><bdi>${e.ids[b]}</bdi></a></th>
            <td role="cell" class="snippet" dir="auto">${e.snippets[b]}</td>
            ${_&&i`<td role="cell" class="tags">${[e.strata[b],...e.tags[b]].filter(Boolean).map(N=>i`<bdi class="tag">${N}</bdi> `)}</td>`}
            ${$?i`<td role="cell" class="cells">${D("span")}</td>`:D("td")}
          </tr>`})}
        ${x<t.length&&S(t.length-x)}
      </tbody>
    </table>
    ${t.length===0&&i`<p class="empty">${e.n===0?"There are no cases yet.":"No case matches. “Show all” removes the filters."}</p>`}
  </div>`}var Zn="judgekit-single-keys";function Ds(){try{return localStorage.getItem(Zn)!=="off"}catch{return!0}}function Rs(e){try{localStorage.setItem(Zn,e?"on":"off")}catch{}}function eo(){let[e,t]=k(Ds);return[e,n=>{Rs(n),t(n)}]}function ie(e,t){let n=A(null);n.current=t?e:{},j(()=>{let o=s=>{if(s.defaultPrevented||s.ctrlKey||s.metaKey||s.altKey||s.target.closest?.("input:not([type=checkbox]), select, textarea, [contenteditable]"))return;let r=n.current[s.key];r&&r()!==!1&&s.preventDefault()};return document.addEventListener("keydown",o),()=>document.removeEventListener("keydown",o)},[])}function qt({label:e,className:t,onClose:n,children:o}){let s=A(null);return j(()=>{s.current.showModal(),s.current.focus()},[]),i`<dialog ref=${s} class=${t} aria-label=${e} tabindex="-1"
    onCancel=${r=>{r.preventDefault(),n()}}
    onClick=${r=>r.target===s.current&&n()}>${o}</dialog>`}function to({rows:e,isOn:t,setOn:n,onClose:o}){return i`<${qt} label="Keyboard shortcuts" className="help" onClose=${o}>
    <div class="inside">
      <header><h2>Keyboard shortcuts</h2><button type="button" onClick=${o} aria-label="Close">✕</button></header>
      <table><tbody>${e.map(([s,r])=>i`<tr>
        <th scope="row">${s.split(" ").map(a=>i`<kbd>${a}</kbd> `)}</th><td>${r}</td></tr>`)}</tbody></table>
      <label class="check"><input type="checkbox" checked=${t} onChange=${s=>n(s.target.checked)} />
        Use shortcuts of a single key</label>
    </div>
  <//>`}var Ws=/\r(?!\n)|[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]|\udb40[\udc00-\udc7f]/g,qs=/^ {0,3}(```|~~~)[^\n]*\n[\s\S]*?(?:^ {0,3}\1[^\n]*$|$(?![\s\S]))/gm;function R(e){let t=[],n=0;for(let o of e.matchAll(Ws)){let s=`U+${o[0].codePointAt(0).toString(16).toUpperCase().padStart(4,"0")}`;t.push(e.slice(n,o.index),i`<span class="chip" title="invisible character">${s}</span>`),n=o.index+o[0].length}return n?[...t,e.slice(n)]:e}function Fs(e,t,n){let o=new Set([0,e.length]);for(let{start:r,end:a}of[...t,...n])o.add(r).add(a);let s=[...o].sort((r,a)=>r-a);return s.slice(1).map((r,a)=>{let c=s[a],u=f=>f.start<=c&&r<=f.end;return{start:c,end:r,marks:t.filter(u),isCode:n.some(u)}})}function Q({text:e,mono:t=!1,marks:n=[],at:o=null,onPick:s=null,label:r=null}){let a=t?[]:[...e.matchAll(qs)].map(u=>({start:u.index,end:u.index+u[0].length})),c=Fs(e,n,a).map(u=>{let f=R(e.slice(u.start,u.end)),d=u.isCode?i`<span class="code">${f}</span>`:f;if(u.marks.length===0)return d;let $=u.marks.filter(x=>x.no),p=u.marks.map(x=>x.note).filter(Boolean),l=$.map(x=>x.no),h=$.filter(x=>x.end===u.end).map(x=>x.no),m=l.length>0?[`${l.length>1?"quotes":"quote"} ${l.join(", ")}`]:[],C=[`n${Math.min(3,u.marks.length)}`,l.includes(o)&&"at",p.length>0&&"scrubbed"];return i`<mark class=${C.filter(Boolean).join(" ")}
      data-quotes=${l.join(" ")} data-ends=${h.join(" ")||null}
      title=${[...m,...p].join("; ")}
      onClick=${s&&l.length>0?()=>s(l[0]):null}>${d}${p.length>0&&i`<span class="hidden"> (${p.join("; ")})</span>`}</mark>`});return i`<div class=${`passage${t?" mono":""}`} dir="auto" tabindex="0" role="group" aria-label=${r}>${c}</div>`}var Bs={pass:"✓",fail:"✗",inconclusive:"?",error:"!"};function le({tone:e,children:t}){return i`<span class=${`badge ${e}-fill`}><span class=${e} aria-hidden="true">${Bs[e]??""}</span> ${t}</span>`}function ge({facts:e}){return e.length>0&&i`<p class="facts">${e.map((t,n)=>i`${n>0&&" · "}<bdi>${R(t)}</bdi>`)}</p>`}function Hs({quote:e,isAt:t,onPick:n}){let o=e.of?i`output <bdi>${R(e.of)}</bdi>`:"the output",s=e.match===null?i`<span class="fail">not found in ${o}</span>`:i`<span class="note">${e.of&&o}${e.match==="exact"?"":" found but for white space"}</span>`;return i`<li class=${t?"at":null} data-quote=${e.no}>
    ${e.match===null?i`<span class="number" aria-hidden="true">${e.no}</span>`:i`<button type="button" class="number" onClick=${()=>n(e.no)} title="Show it in the output">
          <span class="hidden">quote </span>${e.no}</button>`}
    <q dir="auto">${R(e.text)}</q> ${s}</li>`}function Us({exchange:e,omitted:t,isOpen:n}){return e?i`<details class="exchange" open=${n}>
    <summary>Prompt and reply</summary>
    ${e.note&&i`<p class="note">${e.note}</p>`}
    ${e.messages.map(o=>i`<h5>${o.role}</h5><${Q} text=${o.text} label=${o.role} />`)}
    ${e.reply!==null&&i`<h5>reply</h5><${Q} text=${e.reply} mono label="reply" />`}
  </details>`:t&&i`<details class="exchange" open=${n}><summary>Prompt and reply</summary><p class="note">${t}</p></details>`}function rt({row:e,exchanges:t=[],view:n}){let o=e.tone==="error"?i`<${le} tone="error">${e.score}<//>`:i`<strong class=${e.tone}>${R(e.score)}</strong>`;return i`<div class="opinion">
    <p><span class="who"><bdi>${R(e.who)}</bdi>:</span> ${o}${e.value&&i`<span class="dim"> → ${e.value}</span>`}</p>
    <${ge} facts=${e.facts} />
    ${e.rationale?i`<p class="rationale" dir="auto">${R(e.rationale)}</p>`:i`<p class="note">no reason</p>`}
    ${e.quotes.length>0&&i`<ol class="quotes">${e.quotes.map(s=>i`<${Hs} key=${s.no} quote=${s} isAt=${n.quote===s.no} onPick=${n.pick} />`)}</ol>`}
    ${e.reply&&i`<details><summary>What the judge wrote</summary><${Q} text=${e.reply} mono label="reply" /></details>`}
    <${Us} exchange=${t[e.exchange]} omitted=${n.omitted} isOpen=${n.isPromptOpen} />
  </div>`}function Ks({group:e,exchanges:t,question:n,view:o}){return i`<section class=${`criterion ${e.tone}-edge`}>
    <h4><bdi>${R(e.title)}</bdi> ${e.result&&i`<${le} tone=${e.tone}>${e.result}<//>`}</h4>
    <${ge} facts=${e.facts} />
    ${n&&i`<p class="question" dir="auto">${R(n)}</p>`}
    ${e.rows.map(s=>i`<${rt} row=${s} exchanges=${t} view=${o} />`)}
  </section>`}function no({check:e}){return i`<li><${le} tone=${e.tone==="inconclusive"?"error":e.tone}>${e.word}<//> <strong>${R(e.type)}</strong>
    <span dir="auto"> ${R(e.message)}</span>
    ${e.actual!==null&&i`<div class="dim">found <code>${R(e.actual)}</code></div>`}
    ${e.parts.length>0&&i`<ul class="checks">${e.parts.map(t=>i`<${no} check=${t} />`)}</ul>`}
  </li>`}function oo({answer:e,view:t}){return i`
    <h3>output</h3>
    ${e.error!==null&&i`<p class="no-output"><${le} tone="error">no output<//> <span dir="auto">${R(e.error)}</span></p>`}
    ${e.output?i`<${Q} text=${e.output} mono=${e.mono} marks=${e.marks} at=${t.quote} onPick=${t.pick} label="output" />`:e.error===null&&i`<p class="note">The output is empty.</p>`}
    ${e.steps&&i`<h3>steps, as the judge was shown them</h3>
      <${Q} text=${e.steps.text} marks=${e.steps.marks} at=${t.quote} onPick=${t.pick} label="steps" />`}`}function so({answer:e,questions:t,view:n}){let o=e.opinions;return i`
    ${e.checks.length>0&&i`<h3>assertions</h3><ul class="checks">${e.checks.map(s=>i`<${no} check=${s} />`)}</ul>`}
    ${o.length>0&&i`<h3>judgments</h3>${o.map(s=>i`<${Ks} key=${s.title} group=${s} exchanges=${e.exchanges} question=${t[s.title]} view=${n} />`)}`}
    ${e.scores.length>0&&i`<h3>scores</h3><table class="scores"><tbody>${e.scores.map(s=>i`<tr>
      <th scope="row"><bdi>${R(s.name)}</bdi></th><td class="number">${s.value}</td><td dir="auto">${R(s.text)}</td></tr>`)}</tbody></table>`}
    ${e.checks.length+o.length+e.scores.length===0&&i`<p class="note">Nothing was checked or judged.</p>`}`}var Js=400;function Vs({title:e,text:t,mono:n}){let o=i`<${Q} text=${t} mono=${n} label=${e||"content"} />`;return t.length<=Js?i`${e&&i`<div class="part">${R(e)}</div>`}${o}`:i`<details><summary>${R(e)||"content"}, ${t.length.toLocaleString("en")} characters</summary>${o}</details>`}function ro({trace:e}){let t=Math.max(0,...e.map(o=>o.ms??0)),n=o=>s=>s&&(s.style.width=`${Math.max(1,100*o.ms/t)}%`);return i`<ol class="timeline">
    ${e.map(o=>i`<li class=${o.is_error?"is-error":null}>
      <div class="event"><span class="type">${o.is_error?"! ":""}${R(o.type)}</span>
        ${o.name&&i`<strong><bdi>${R(o.name)}</bdi></strong>`}
        ${o.took&&i`<span class="took">${o.took}</span>`}
      </div>
      ${o.ms!==null&&t>0&&i`<div class="track" aria-hidden="true"><div ref=${n(o)}></div></div>`}
      ${o.parts.map(s=>i`<${Vs} ...${s} />`)}
    </li>`)}
  </ol>`}var _e=class{diff(t,n,o={}){let s;typeof o=="function"?(s=o,o={}):"callback"in o&&(s=o.callback);let r=this.castInput(t,o),a=this.castInput(n,o),c=this.removeEmpty(this.tokenize(r,o)),u=this.removeEmpty(this.tokenize(a,o));return this.diffWithOptionsObj(c,u,o,s)}diffWithOptionsObj(t,n,o,s){var r;let a=_=>{if(_=this.postProcess(_,o),s){setTimeout(function(){s(_)},0);return}else return _},c=n.length,u=t.length,f=1,d=c+u;o.maxEditLength!=null&&(d=Math.min(d,o.maxEditLength));let $=(r=o.timeout)!==null&&r!==void 0?r:1/0,p=Date.now()+$,l=[{oldPos:-1,lastComponent:void 0}],h=this.extractCommon(l[0],n,t,0,o);if(l[0].oldPos+1>=u&&h+1>=c)return a(this.buildValues(l[0].lastComponent,n,t));let m=-1/0,C=1/0,x=()=>{for(let _=Math.max(m,-f);_<=Math.min(C,f);_+=2){let y,S=l[_-1],I=l[_+1];S&&(l[_-1]=void 0);let O=!1;if(I){let b=I.oldPos-_;O=I&&0<=b&&b<c}let W=S&&S.oldPos+1<u;if(!O&&!W){l[_]=void 0;continue}if(!W||O&&S.oldPos<I.oldPos?y=this.addToPath(I,!0,!1,0,o):y=this.addToPath(S,!1,!0,1,o),h=this.extractCommon(y,n,t,_,o),y.oldPos+1>=u&&h+1>=c)return a(this.buildValues(y.lastComponent,n,t))||!0;l[_]=y,y.oldPos+1>=u&&(C=Math.min(C,_-1)),h+1>=c&&(m=Math.max(m,_+1))}f++};if(s)(function _(){setTimeout(function(){if(f>d||Date.now()>p)return s(void 0);x()||_()},0)})();else for(;f<=d&&Date.now()<=p;){let _=x();if(_)return _}}addToPath(t,n,o,s,r){let a=t.lastComponent;return a&&!r.oneChangePerToken&&a.added===n&&a.removed===o?{oldPos:t.oldPos+s,lastComponent:{count:a.count+1,added:n,removed:o,previousComponent:a.previousComponent}}:{oldPos:t.oldPos+s,lastComponent:{count:1,added:n,removed:o,previousComponent:a}}}extractCommon(t,n,o,s,r){let a=n.length,c=o.length,u=t.oldPos,f=u-s,d=0;for(;f+1<a&&u+1<c&&this.equals(o[u+1],n[f+1],r);)f++,u++,d++,r.oneChangePerToken&&(t.lastComponent={count:1,previousComponent:t.lastComponent,added:!1,removed:!1});return d&&!r.oneChangePerToken&&(t.lastComponent={count:d,previousComponent:t.lastComponent,added:!1,removed:!1}),t.oldPos=u,f}equals(t,n,o){return o.comparator?o.comparator(t,n):t===n||!!o.ignoreCase&&t.toLowerCase()===n.toLowerCase()}removeEmpty(t){let n=[];for(let o=0;o<t.length;o++)t[o]&&n.push(t[o]);return n}castInput(t,n){return t}tokenize(t,n){return Array.from(t)}join(t){return t.join("")}postProcess(t,n){return t}get useLongestToken(){return!1}buildValues(t,n,o){let s=[],r;for(;t;)s.push(t),r=t.previousComponent,delete t.previousComponent,t=r;s.reverse();let a=s.length,c=0,u=0,f=0;for(;c<a;c++){let d=s[c];if(d.removed)d.value=this.join(o.slice(f,f+d.count)),f+=d.count;else{if(!d.added&&this.useLongestToken){let $=n.slice(u,u+d.count);$=$.map(function(p,l){let h=o[f+l];return h.length>p.length?h:p}),d.value=this.join($)}else d.value=this.join(n.slice(u,u+d.count));u+=d.count,d.added||(f+=d.count)}}return s}};function Ft(e,t){let n;for(n=0;n<e.length&&n<t.length;n++)if(e[n]!=t[n])return e.slice(0,n);return e.slice(0,n)}function Bt(e,t){let n;if(!e||!t||e[e.length-1]!=t[t.length-1])return"";for(n=0;n<e.length&&n<t.length;n++)if(e[e.length-(n+1)]!=t[t.length-(n+1)])return e.slice(-n);return e.slice(-n)}function at(e,t,n){if(e.slice(0,t.length)!=t)throw Error(`string ${JSON.stringify(e)} doesn't start with prefix ${JSON.stringify(t)}; this is a bug`);return n+e.slice(t.length)}function it(e,t,n){if(!t)return e+n;if(e.slice(-t.length)!=t)throw Error(`string ${JSON.stringify(e)} doesn't end with suffix ${JSON.stringify(t)}; this is a bug`);return e.slice(0,-t.length)+n}function Ie(e,t){return at(e,t,"")}function Ue(e,t){return it(e,t,"")}function Ht(e,t){return t.slice(0,zs(e,t))}function zs(e,t){let n=0;e.length>t.length&&(n=e.length-t.length);let o=t.length;e.length<t.length&&(o=e.length);let s=Array(o),r=0;s[0]=0;for(let a=1;a<o;a++){for(t[a]==t[r]?s[a]=s[r]:s[a]=r;r>0&&t[a]!=t[r];)r=s[r];t[a]==t[r]&&r++}r=0;for(let a=n;a<e.length;a++){for(;r>0&&e[a]!=t[r];)r=s[r];e[a]==t[r]&&r++}return r}function Ut(e,t){let n=[];for(let o of Array.from(t.segment(e))){let s=o.segment;n.length&&/\s/.test(n[n.length-1])&&/\s/.test(s)?n[n.length-1]+=s:n.push(s)}return n}function lt(e,t){if(t)return Me(e,t)[1];let n;for(n=e.length-1;n>=0&&e[n].match(/\s/);n--);return e.substring(n+1)}function xe(e,t){if(t)return Me(e,t)[0];let n=e.match(/^\s*/);return n?n[0]:""}function Me(e,t){if(!t)return[xe(e),lt(e)];if(t.resolvedOptions().granularity!="word")throw new Error('The segmenter passed must have a granularity of "word"');let n=Ut(e,t),o=n[0],s=n[n.length-1],r=/\s/.test(o)?o:"",a=/\s/.test(s)?s:"";return[r,a]}var ct="a-zA-Z0-9_\\u{AD}\\u{C0}-\\u{D6}\\u{D8}-\\u{F6}\\u{F8}-\\u{2C6}\\u{2C8}-\\u{2D7}\\u{2DE}-\\u{2FF}\\u{1E00}-\\u{1EFF}",Gs=new RegExp(`[${ct}]+|\\s+|[^${ct}]`,"ug"),Kt=class extends _e{equals(t,n,o){return o.ignoreCase&&(t=t.toLowerCase(),n=n.toLowerCase()),t.trim()===n.trim()}tokenize(t,n={}){let o;if(n.intlSegmenter){let a=n.intlSegmenter;if(a.resolvedOptions().granularity!="word")throw new Error('The segmenter passed must have a granularity of "word"');o=Ut(t,a)}else o=t.match(Gs)||[];let s=[],r=null;return o.forEach(a=>{/\s/.test(a)?r==null?s.push(a):s.push(s.pop()+a):r!=null&&/\s/.test(r)?s[s.length-1]==r?s.push(s.pop()+a):s.push(r+a):s.push(a),r=a}),s}join(t){return t.map((n,o)=>o==0?n:n.replace(/^\s+/,"")).join("")}postProcess(t,n){if(!t||n.oneChangePerToken)return t;let o=null,s=null,r=null;return t.forEach(a=>{a.added?s=a:a.removed?r=a:((s||r)&&ao(o,r,s,a,n.intlSegmenter),o=a,s=null,r=null)}),(s||r)&&ao(o,r,s,null,n.intlSegmenter),t}},io=new Kt;function Vt(e,t,n){return n?.ignoreWhitespace!=null&&!n.ignoreWhitespace?ut(e,t,n):io.diff(e,t,n)}function ao(e,t,n,o,s){if(t&&n){let[r,a]=Me(t.value,s),[c,u]=Me(n.value,s);if(e){let f=Ft(r,c);e.value=it(e.value,c,f),t.value=Ie(t.value,f),n.value=Ie(n.value,f)}if(o){let f=Bt(a,u);o.value=at(o.value,u,f),t.value=Ue(t.value,f),n.value=Ue(n.value,f)}}else if(n){if(e){let r=xe(n.value,s);n.value=n.value.substring(r.length)}if(o){let r=xe(o.value,s);o.value=o.value.substring(r.length)}}else if(e&&o){let r=xe(o.value,s),[a,c]=Me(t.value,s),u=Ft(r,a);t.value=Ie(t.value,u);let f=Bt(Ie(r,u),c);t.value=Ue(t.value,f),o.value=at(o.value,r,f),e.value=it(e.value,r,r.slice(0,r.length-f.length))}else if(o){let r=xe(o.value,s),a=lt(t.value,s),c=Ht(a,r);t.value=Ue(t.value,c)}else if(e){let r=lt(e.value,s),a=xe(t.value,s),c=Ht(r,a);t.value=Ie(t.value,c)}}var Jt=class extends _e{tokenize(t){let n=new RegExp(`(\\r?\\n)|[${ct}]+|[^\\S\\n\\r]+|[^${ct}]`,"ug");return t.match(n)||[]}},lo=new Jt;function ut(e,t,n){return lo.diff(e,t,n)}var zt=class extends _e{constructor(){super(...arguments),this.tokenize=Ys}equals(t,n,o){return o.ignoreWhitespace?((!o.newlineIsToken||!t.includes(`
`))&&(t=t.trim()),(!o.newlineIsToken||!n.includes(`
`))&&(n=n.trim())):o.ignoreNewlineAtEof&&!o.newlineIsToken&&(t.endsWith(`
`)&&(t=t.slice(0,-1)),n.endsWith(`
`)&&(n=n.slice(0,-1))),super.equals(t,n,o)}},co=new zt;function Ke(e,t,n){return co.diff(e,t,n)}function Ys(e,t){t.stripTrailingCr&&(e=e.replace(/\r\n/g,`
`));let n=[],o=e.split(/(\n|\r\n)/);o[o.length-1]||o.pop();for(let s=0;s<o.length;s++){let r=o[s];s%2&&!t.newlineIsToken?n[n.length-1]+=r:n.push(r)}return n}var uo=300,Qs=.2,Gt=typeof Intl.Segmenter=="function"?new Intl.Segmenter(void 0,{granularity:"word"}):void 0;function Xs(e,t){return!e||!t?[{value:e||t,removed:!t,added:!e}]:Vt(e,t,{intlSegmenter:Gt,timeout:uo})??Ke(e,t,{timeout:uo})??null}function Zs(e,t,n){return e.filter(r=>!r.added&&!r.removed).reduce((r,a)=>r+a.value.trim().length,0)/Math.max(1,Math.min(t.trim().length,n.trim().length))}function er(e){return Gt?[...Gt.segment(e)].filter(t=>t.isWordLike).length:e.split(/\s+/).filter(Boolean).length}function tr(e,t){if(e===t)return{summary:e?"Both texts are the same.":"Both texts are empty.",parts:[]};let n=Xs(e,t);if(n&&!n.some(s=>s.added||s.removed))return{summary:"Only white space differs.",parts:n};if(!n||e&&t&&Zs(n,e,t)<Qs)return{summary:"The texts have little in common.",parts:[{value:e,removed:!0},{value:t,added:!0}],isWhole:!0};let o=s=>n.reduce((r,a)=>r+(a[s]?er(a.value):0),0);return{summary:`Words removed: ${o("removed")}. Words added: ${o("added")}.`,parts:n}}function nr({part:e,isWhole:t}){if(!e.added&&!e.removed)return e.value;let[n,o]=e.added?["ins","added: "]:["del","removed: "];return i`<${n} class=${t?"whole":""}><span class="hidden">${o}</span>${e.value}<span class="hidden">, end. </span></${n}>`}function Ce({a:e,b:t}){let n=J(()=>tr(e,t),[e,t]);return i`
    <div class="word-diff">
      <p class="note" role="status">${n.summary}</p>
      ${n.parts.length>0&&i`
        <div class="diff-text" dir="auto" tabindex="-1">
          ${n.parts.map(o=>i`<${nr} part=${o} isWhole=${n.isWhole} />`)}
        </div>`}
    </div>`}var or=new Set(["sides","comparison","ranking","items","changes"]),$o=e=>or.has(e);function Yt({output:e,place:t,view:n}){return i`
    <section class="side" data-answer=${t}>
      <h4><bdi>${R(e.name)}</bdi></h4>
      <${ge} facts=${e.facts} />
      ${e.error&&i`<p class="error">${R(e.error)}</p>`}
      ${e.output&&i`<${Q} text=${e.output} mono=${e.mono} marks=${e.marks} at=${n.quote} onPick=${n.pick} label=${e.name} />`}
      ${!e.output&&!e.error&&i`<p class="note">The output is empty.</p>`}
    </section>`}function fo({label:e,outputs:t,value:n,onPick:o}){return i`<label>${e} <select value=${n} onChange=${s=>o(Number(s.target.value))}>
    ${t.map((s,r)=>i`<option value=${r} selected=${r===n}>${s.name}</option>`)}
  </select></label>`}function sr(e){let t=e.findIndex(n=>n.column!==e[0].column);return[0,t<0?Math.min(1,e.length-1):t]}function rr({outputs:e,viewOf:t,areKeysOn:n}){let[[o,s],r]=k(sr(e)),[a,c]=k(!1),u=A(null),f=()=>r(([p,l])=>[l,p]);if(ie({s:f,d:()=>c(p=>!p),n:()=>po(u.current,1),N:()=>po(u.current,-1)},n),e.length===0)return i`<p class="note">The output is not known here.</p>`;if(e.length===1)return i`<${Yt} output=${e[0]} place=${0} view=${t(0)} />`;let[d,$]=[e[o],e[s]];return i`
    <div class="pair" ref=${u}>
      <div class="pair-tools">
        ${e.length>2&&i`
          <${fo} label="Left" outputs=${e} value=${o} onPick=${p=>r([p,s])} />
          <${fo} label="Right" outputs=${e} value=${s} onPick=${p=>r([o,p])} />`}
        <button type="button" aria-pressed=${a} aria-keyshortcuts="d" onClick=${()=>c(!a)}>Word diff</button>
        <button type="button" aria-keyshortcuts="s" onClick=${f}>Swap sides</button>
      </div>
      ${a?i`<h4>From <bdi>${d.name}</bdi> to <bdi>${$.name}</bdi></h4><${Ce} a=${d.output} b=${$.output} />`:i`<div class="pair-columns"><${Yt} output=${d} place=${o} view=${t(o)} key=${o} /><${Yt} output=${$} place=${s} view=${t(s)} key=${`right-${s}`} /></div>`}
    </div>`}function po(e,t){let n=[...e?.querySelectorAll("ins, del")??[]];if(n.length===0)return;let o=n.findIndex(r=>r.classList.contains("current")),s=n[(o+t+n.length)%n.length];n[o]?.classList.remove("current"),s.classList.add("current"),s.tabIndex=-1,s.focus(),s.scrollIntoView({block:"nearest"})}function ar({point:e}){return i`<li><span dir="auto">${e.text}</span>
    ${e.quote&&i` <q dir="auto">${e.quote}</q>`}
    ${e.after&&i`<${Ce} a=${e.before} b=${e.after} />`}</li>`}function ir(e){let t=new Map,n=(o,s)=>t.set(o,[...t.get(o)??[],s]);for(let[o,s]of e.entries()){for(let r of s.opinions)for(let a of r.rows){let c=a.tone==="error"?a.tone:r.tone,u={...a,who:s.name,tone:c,facts:[a.who,...a.facts]};n(r.title,{row:u,exchanges:s.exchanges,place:o})}for(let r of s.checks){let a=r.actual===null?[]:[r.actual];n(r.type,{row:{who:s.name,score:r.word,tone:r.tone,facts:a,rationale:r.message,quotes:[]},place:o})}}return[...t].map(([o,s])=>({title:o,result:"",rows:s}))}function mo({index:e,row:t,body:n,areKeysOn:o=!0}){let[s,r]=k({}),[a,c]=k(!1);ie({p:()=>c($=>!$)},o);let u=t.opinions?t.opinions.map($=>({...$,rows:$.rows.map(p=>({row:p,exchanges:t.exchanges}))})):ir(t.answers),f=$=>t.opinions?void 0:$,d=$=>({quote:s.place===f($)?s.no:null,pick:p=>{r({place:f($),no:p});let l=t.opinions?"":`[data-answer="${$}"] `;n.current.querySelector(`${l}mark[data-quotes~="${p}"]`)?.scrollIntoView({block:"nearest"})},isPromptOpen:a,omitted:e.omitted.replies});return i`
    <div class="pair-body">
      ${t.texts.map($=>i`
        <details open=${$.title==="input"}><summary>${$.title}</summary><${Q} text=${$.text} mono=${$.mono} label=${$.title} /></details>`)}
      <h3>${t.answers.length>1?"Outputs":"Output"}</h3>
      <${rr} outputs=${t.answers} viewOf=${d} areKeysOn=${o} key=${t.id} />
      ${u.length>0&&i`<h3>Judgments</h3>`}
      ${u.map($=>i`
        <section class="group">
          <h4><bdi>${R($.title)}</bdi></h4>
          ${$.result&&i`<p class="result">${R($.result)}</p>`}
          <div class="pair-columns">${$.rows.map(p=>i`<${rt} row=${p.row} exchanges=${p.exchanges} view=${d(p.place)} />`)}</div>
        </section>`)}
      ${(t.points??[]).map($=>i`
        <h3>${R($.title)}</h3>
        <ul>${$.points.map(p=>i`<${ar} point=${p} />`)}</ul>`)}
    </div>`}function lr(e,t){let[n,o]=k(null);return j(()=>{let s=!0;return En(e,t).then(r=>s&&o({place:t,row:r}),r=>s&&o({place:t,error:r})),()=>{s=!1}},[e,t]),n?.place===t?n:null}function ho({index:e,row:t,at:n,onChoose:o,isBeside:s}){if(t.answers.length===1)return null;let a=f=>[e.columns[f.column],f.round].filter(Boolean).join(", "),c=[...t.answers.keys()];return i`<div class="tabs"><div role="tablist" aria-label="Answers" onKeyDown=${f=>{let d={ArrowLeft:-1,ArrowRight:1}[f.key];if(!d)return;f.preventDefault(),f.stopPropagation();let $=(n+d+c.length)%c.length;o($),f.currentTarget.querySelectorAll("[role=tab]")[$].focus()}}>
    ${t.answers.map((f,d)=>{let{sign:$,tone:p,label:l}=e.states[f.state],h=!s&&d===n;return i`<button type="button" role="tab" id=${`tab-${d}`} aria-controls="answer" aria-selected=${h}
        tabindex=${d===n?0:-1} onClick=${()=>o(d)}>
        <span class=${p} aria-hidden="true">${$}</span> <bdi>${a(f)}</bdi>
        <span class="hidden">, ${l}</span>${f.value&&i`<span class="dim"> ${f.value}</span>`}</button>`})}</div>
    <button type="button" aria-pressed=${s} onClick=${()=>o(n,!s)}>Side by side</button></div>`}function go({label:e,row:t,index:n,value:o,onChoose:s}){return i`<label class="choice"><span>${e}</span><select value=${o} onChange=${r=>s(Number(r.target.value))}>
    ${t.answers.map((r,a)=>i`<option value=${a} selected=${a===o}>${n.columns[r.column]}${r.round&&`, ${r.round}`}</option>`)}
  </select></label>`}function cr({index:e,row:t,questions:n,a:o,b:s,onChoose:r}){let[a,c]=[t.answers[o],t.answers[s]],u=[...new Set([...a.opinions,...c.opinions].map(l=>l.title))],f=(l,h)=>l.opinions.find(m=>m.title===h),d=(l,h)=>{let m=f(l,h);return m?.result?i`<${le} tone=${m.tone}>${m.result}<//>`:"–"},$=(l,h)=>f(l,h)?.rows.map(m=>i`<p dir="auto">${R(m.rationale)}</p>`),p=l=>e.states[l.state];return i`<div class="beside">
    <div class="choices">
      <${go} label="from" row=${t} index=${e} value=${o} onChoose=${l=>r(l,s)} />
      <${go} label="to" row=${t} index=${e} value=${s} onChoose=${l=>r(o,l)} />
    </div>
    <h3>output</h3>
    <${Ce} a=${a.output} b=${c.output} />
    <h3>judgments</h3>
    <div class="wide"><table class="pair"><thead><tr><th scope="col">criterion</th>${[a,c].map(l=>i`<th scope="col"><bdi>${e.columns[l.column]}</bdi> ${l.round}</th>`)}</tr></thead>
      <tbody><tr><th scope="row">verdict</th>${[a,c].map(l=>i`<td><${le} tone=${p(l).tone}>${p(l).label} ${l.value??""}<//></td>`)}</tr>
      ${u.map(l=>i`<tr><th scope="row" title=${n[l]??null}><bdi>${R(l)}</bdi></th>
        ${[a,c].map(h=>i`<td>${d(h,l)}${$(h,l)}</td>`)}</tr>`)}</tbody></table></div>
  </div>`}var ur=["reference","context"];function dr({index:e,row:t,state:n,change:o,body:s,areKeysOn:r}){let a={...e.questions,...t.questions},c=n.answer??n.variant,u=E=>[e.columns[t.answers[E].column],t.answers[E].round].filter(Boolean).join(", "),f=[...t.answers.keys()],d=E=>{let v=f.findIndex(F=>u(F)===E);return v>=0?v:f.findLastIndex(F=>e.columns[t.answers[F].column]===E)},$=Math.max(0,d(c)),p=d(n.with),l=t.answers[$],[h,m]=k(null),[C,x]=k(!1),_=Ae("(max-width: 60rem)"),[y,S]=k("texts");j(()=>m(null),[t,$]);let I=J(()=>l?[...l.marks,...l.steps?.marks??[]].map(E=>E.no):[],[l]),O=(E,v,F=()=>{})=>{S(E),requestAnimationFrame(()=>requestAnimationFrame(()=>{let ne=s.current?.querySelector(v);ne?.scrollIntoView({block:"nearest"}),ne&&F(ne)}))},W=E=>(m(E),O("texts",`mark[data-quotes~="${E}"]`)),b=E=>(m(E),O("judgments",`li[data-quote="${E}"]`)),g=(E,v=!1)=>o({answer:u(E),with:v?u((E+1)%f.length):""}),w=E=>()=>f.length>1&&p<0&&g(($+E+f.length)%f.length);ie({ArrowLeft:w(-1),ArrowRight:w(1),e:()=>I.length>0&&W(I[(I.indexOf(h)+1)%I.length]),r:()=>O("texts",'[data-text="reference"]',E=>E.querySelector(".passage").focus()),p:()=>{x(!C),O("judgments",".exchange")}},r);let P=e.omitted.replies??"",D={quote:h,isPromptOpen:C,omitted:P},N=E=>t.texts.filter(v=>ur.includes(v.title)===E).map(v=>i`<section data-text=${v.title} class="given"><h3>${v.title}</h3>
      <${Q} text=${v.text} mono=${v.mono} label=${v.title} /></section>`);return p>=0&&p!==$?i`<${ho} index=${e} row=${t} at=${$} onChoose=${g} isBeside />
      <div id="answer"><${cr} index=${e} row=${t} questions=${a} a=${$} b=${p}
        onChoose=${(E,v)=>o({answer:u(E),with:u(E===v?(E+1)%f.length:v)})} />${N(!1)}${N(!0)}</div>`:i`<${ho} index=${e} row=${t} at=${$} onChoose=${g} isBeside=${!1} />
    ${l&&i`<div class="verdict"><${le} tone=${e.states[l.state].tone}>
      ${e.states[l.state].label} ${l.value??""}<//> <${ge} facts=${[l.round,...l.facts].filter(Boolean)} /></div>`}
    ${_&&i`<div class="parts" role="group" aria-label="Show">${[["texts","Output and texts"],["judgments","Judgments"]].map(([E,v])=>i`<button type="button" aria-pressed=${y===E} onClick=${()=>S(E)}>${v}</button>`)}</div>`}
    <div class="columns" id="answer" role=${f.length>1?"tabpanel":null} aria-labelledby=${f.length>1?`tab-${$}`:null}>
      ${(!_||y==="texts")&&i`<div>${N(!1)}${l&&i`<${oo} answer=${l} view=${{...D,pick:b}} />`}
        ${N(!0)}${l?.trace.length>0&&i`<h3>trace</h3><${ro} trace=${l.trace} />`}</div>`}
      ${l&&(!_||y==="judgments")&&i`<div><${so} answer=${l} questions=${a} view=${{...D,pick:W}} /></div>`}
    </div>`}function _o({index:e,place:t,rows:n,state:o,change:s,onClose:r,onMove:a,areKeysOn:c,onHelp:u}){let f=lr(e,t),d=A(null),[$,p]=k(""),l=n.indexOf(t),h=e.ids[t];j(()=>{p(""),d.current&&(d.current.scrollTop=0)},[t]);let m=Wt({...o,case:h}),C=async()=>{try{await navigator.clipboard.writeText(m),p("Link copied.")}catch{p(`The browser does not allow copying; the link is ${m}`)}};ie({"[":()=>a(-1),"]":()=>a(1),j:()=>a(1),k:()=>a(-1),c:()=>{C()},"?":u},c);let x=$o(e.kind)?mo:dr;return i`<${qt} label=${`Case ${h}`} className="drawer" onClose=${r}>
    <div class="inside">
      <header>
        <h2><bdi>${h}</bdi></h2>
        <div class="actions">
          <button type="button" onClick=${()=>a(-1)} disabled=${l<=0} aria-label="Previous case" title="Previous case ([)">‹</button>
          <span class="dim">${l>=0?`${(l+1).toLocaleString("en")} of ${n.length.toLocaleString("en")}`:"filtered out"}</span>
          <button type="button" onClick=${()=>a(1)} disabled=${l>=n.length-1} aria-label="Next case" title="Next case (])">›</button>
          <button type="button" onClick=${C} title="Copy a link to this case (c)">Copy link</button>
          <button type="button" onClick=${u} aria-label="Keyboard shortcuts" title="Keyboard shortcuts (?)">?</button>
          <button type="button" onClick=${r} aria-label="Close" title="Close (Esc)">✕</button>
        </div>
        <p role="status" class="notice">${$}</p>
      </header>
      <div class="body" ref=${d} aria-busy=${f===null}>
        ${f?.error&&i`<p class="fail">This case cannot be shown: ${f.error.message}. Reload the page; if that does not help, write it again.</p>`}
        ${f?.row&&i`<${ge} facts=${f.row.facts??[]} />
          <${x} key=${t} index=${e} row=${f.row} state=${o} change=${s} body=${d} areKeysOn=${c} />`}
      </div>
    </div>
  <//>`}var fr=[["?","this list"],["/","search; Enter goes to the first case found"],["j k","next, previous row"],["← →","variant"],["Enter","open the case"],["1 … 5","filters: all, then as listed"],["Esc","close"],["[ ]","in a case: previous, next case"],["e","in a case: next piece of evidence"],["r","in a case: reference"],["p","in a case: prompt and reply of the judge"],["c","in a case: copy a link to it"]];function bo({index:e}){let[t,n]=Hn(),o=Kn(e,t.q),s=Jn(e,t,o.hits),{rows:r}=s,a=J(()=>new Map(e.ids.map((E,v)=>[E,v])),[e]),c=t.case===void 0?void 0:a.get(t.case),[{active:u},f]=k({active:-1}),[d,$]=k(-1),p=A({row:-1,column:-1}),l=E=>{p.current.row=E,f({active:E})},[h,m]=k(!1),[C,x]=eo(),_=A(null),y=J(()=>{let E=new Set(e.cells.flatMap(v=>[...new Set(v.state)]));return e.states.filter((v,F)=>E.has(F))},[e]),S=A(-1),I=E=>{if(r.length===0)return;let v=Math.min(r.length-1,Math.max(0,E));S.current=v,l(v)},O=(E,v)=>n({case:e.ids[E],answer:v??e.columns[p.current.column]??"",with:""},{push:!0}),W=()=>{history.state?.pushed?history.back():n({case:"",answer:"",with:""})},b=E=>{let v=r.indexOf(a.get(Le().case)),F=r[v<0?0:v+E];F!==void 0&&n({case:e.ids[F],with:""})},g=A(c);j(()=>{g.current!==void 0&&c===void 0&&I(r.indexOf(g.current)),g.current=c},[c]),j(()=>l(Math.min(p.current.row,r.length-1)),[r]);let w=E=>()=>n({state:E},{push:!0}),P=E=>()=>{let v=e.columns.length,F=p.current.column;return p.current.column=F<0?E>0?0:v-1:(F+E+v)%v,$(p.current.column),!0},D=c===void 0&&!h;ie({"?":()=>m(!0),"/":()=>_.current.focus(),j:()=>I(p.current.row+1),k:()=>I(p.current.row-1),1:w(""),...Object.fromEntries(e.filters.slice(0,8).map((E,v)=>[v+2,w(E.key)]))},D&&C);let N=()=>document.activeElement?.closest?.("tr[data-row]")!==null;return ie({ArrowDown:()=>N()&&(I(p.current.row+1),!0),ArrowUp:()=>N()&&(I(p.current.row-1),!0),ArrowLeft:()=>N()&&P(-1)(),ArrowRight:()=>N()&&P(1)(),Enter:()=>document.activeElement?.matches?.("tr[data-row] a")&&(O(r[p.current.row]),!0)},D),i`
    <p class="legend note">${y.map(({label:E,sign:v,tone:F})=>i`<span><span class=${F} aria-hidden="true">${v}</span> ${E}</span>`)}</p>
    <${Gn} index=${e} state=${t} change=${n} selection=${s} search=${o}
      searchBox=${_} onFound=${()=>I(0)} onHelp=${()=>m(!0)} />
    ${t.case!==void 0&&c===void 0&&i`<p class="fail" role="alert">There is no case “${t.case}” on this page.</p>`}
    <${Xn} index=${e} rows=${r} state=${t} change=${n} active=${u} setActive=${l}
      column=${d} openRow=${O} focusing=${S} />
    ${c!==void 0&&i`<${_o} index=${e} place=${c} rows=${r} state=${t} change=${n}
      onClose=${W} onMove=${b} areKeysOn=${C&&!h} onHelp=${()=>m(!0)} />`}
    ${h&&i`<${to} rows=${fr} isOn=${C} setOn=${x} onClose=${()=>m(!1)} />`}
  `}function pr(e){if(e.scrollWidth>e.clientWidth)e.tabIndex=0,e.setAttribute("role","group"),e.setAttribute("aria-label",$r(e));else for(let t of["tabindex","role","aria-label"])e.removeAttribute(t)}function $r(e){for(let t=e;t&&t.id!=="main";t=t.parentElement)for(let n=t.previousElementSibling;n;n=n.previousElementSibling)if(/^H[1-6]$/.test(n.tagName))return n.textContent;return e.querySelector("th, figcaption, svg")?.textContent||document.title}function vo(){let e=new ResizeObserver(t=>t.forEach(n=>pr(n.target)));for(let t of document.querySelectorAll(".wide"))e.observe(t)}var Z=null,Se=null,Je=0;function mr(){return Z||(Z=document.createElement("div"),Z.id="tip",Z.className="tip",Z.setAttribute("role","tooltip"),Z.popover="manual"),Z}function hr(e){let t=e.getBoundingClientRect(),{width:n,height:o}=Z.getBoundingClientRect(),s=Math.min(Math.max(6,t.left),Math.max(6,innerWidth-n-6)),r=t.bottom+6,a=r+o>innerHeight&&t.top>o+6?t.top-o-6:r;Z.style.left=`${s}px`,Z.style.top=`${a}px`}function Qt(e){if(clearTimeout(Je),Se===e)return;je(),Se=e;let t=mr();t.textContent=e.dataset.tip,(e.closest("dialog[open], main")??document.body).append(t),t.showPopover(),hr(e),e.setAttribute("aria-describedby",t.id)}function je(){clearTimeout(Je),Se&&(Se.removeAttribute("aria-describedby"),Se=null,Z.matches(":popover-open")&&Z.hidePopover())}function dt(e){let t=e instanceof Element?e.closest("[data-tip], .term[title], td[title], th[title]"):null;return t?.title&&(t.dataset.tip=t.title,t.removeAttribute("title")),t}function yo(e=document){for(let t of e.querySelectorAll(".term[title]"))dt(t),t.tabIndex=0}document.addEventListener("pointerover",e=>{if(e.pointerType==="touch")return;let t=dt(e.target);t?Qt(t):Z?.contains(e.target)?clearTimeout(Je):Se&&(clearTimeout(Je),Je=setTimeout(je,200))});document.addEventListener("focusin",e=>{let t=dt(e.target);t&&Qt(t)});document.addEventListener("focusout",je);document.addEventListener("click",e=>{let t=dt(e.target);t?Qt(t):je()});document.addEventListener("keydown",e=>{e.key==="Escape"&&Se&&(je(),e.stopImmediatePropagation(),e.preventDefault())},!0);document.addEventListener("scroll",je,{capture:!0,passive:!0});function wo(e){for(let t of e.querySelectorAll(".text-change")){let[n,o]=[...t.querySelectorAll("pre")].map(s=>s.textContent);t.replaceChildren(),ee(i`<${Ce} a=${n} b=${o} />`,t)}}var Ee=class extends Error{constructor(t,n,o=null){super(t),this.status=n,this.reply=o}};function Xt(){return ko()!==void 0}function ko(){return document.querySelector('meta[name="judgekit-token"]')?.content}async function te(e,t){if(!Xt())throw new Ee("This page can change nothing: it is for reading only.",0);let n;try{n=await fetch(e,{method:"POST",headers:{"content-type":"application/json","x-judgekit-token":ko()},body:JSON.stringify(t)})}catch{throw new Ee("judgekit view does not answer. Is it still running?",0)}let o=await n.text(),r=n.headers.get("content-type")?.startsWith("application/json")?JSON.parse(o):null;if(!n.ok)throw new Ee(r?.error??o,n.status,r);return r}var ft=20;function xo({path:e,text:t,problems:n,isReadOnly:o,target:s,onInput:r}){let a=A(null),c=A(null),[u,f]=k({top:0,height:600}),d=()=>a.current&&f({top:a.current.scrollTop,height:a.current.clientHeight});X(()=>{a.current.value!==t&&(a.current.value=t)},[t]),j(()=>{let m=new ResizeObserver(d);return m.observe(a.current),()=>m.disconnect()},[]),X(()=>{c.current.style.transform=`translateY(${-(u.top%ft)}px)`},[u]),j(()=>{if(!s)return;let m=t.split(`
`),C=m.slice(0,s.line-1).reduce((x,_)=>x+_.length+1,0);a.current.focus(),a.current.setSelectionRange(C,C+(m[s.line-1]??"").length),a.current.scrollTop=Math.max(0,(s.line-4)*ft),a.current.scrollLeft=0,d()},[s]);let $=new Map;for(let m of n){let C=$.get(m.line);$.set(m.line,{severity:C?.severity==="error"?"error":m.severity,words:C?`${C.words}
${m.message}`:m.message})}let p=t.split(`
`).length,l=Math.floor(u.top/ft),h=Math.min(p-l,Math.ceil(u.height/ft)+1);return i`
    <div class="ed-text">
      <div class="ed-gutter" aria-hidden="true">
        <div ref=${c}>
          ${Array.from({length:Math.max(0,h)},(m,C)=>{let x=l+C+1,_=$.get(x),y=_&&(_.severity==="error"?"✗":"!");return i`<div class=${_?`ed-${_.severity}`:""} title=${_?.words}>${y} ${x}</div>`})}
        </div>
      </div>
      <textarea ref=${a} wrap="off" spellcheck=${!1} autocomplete="off" aria-label=${`Text of ${e}`}
        readOnly=${o} onScroll=${d} onInput=${m=>r(m.target.value)} />
    </div>`}var gr=400,Co=90,Zt=500,_r={assertions:[],scorers:[],variants:[],suites:[],needs:[],examples:[],tags:[],stratum:"",metadata:{},evaluation:{},judge:{},gate:{},settings:{},compare:{},prices:{},columns:{},panel:{}};function br(e,t){let[n,o]=k(e),s=A({draft:e,value:e,timer:0});s.current.commit=t,j(()=>{s.current.draft===s.current.value&&o(s.current.draft=e),s.current.value=e},[e]);let r=()=>{clearTimeout(s.current.timer),s.current.draft!==s.current.value&&(s.current.value=s.current.draft,s.current.commit(s.current.draft))};return j(()=>r,[]),[n,c=>{o(s.current.draft=c),clearTimeout(s.current.timer),s.current.timer=setTimeout(r,gr)},r]}function Eo(e,t){let[n,o]=k(e);return j(()=>o(e),[e]),[n,async r=>{o(r),await t(r)||o(e)}]}function ce({label:e,value:t,onCommit:n,lines:o=1,hint:s="",problem:r="",type:a="text"}){let c=he(),[u,f,d]=br(t,n),$=A(null),p=Math.min(16,Math.max(o,u.split(`
`).length)),l=r||s?`${c}-about`:null,h={id:c,value:u,"aria-describedby":l,"aria-invalid":r?"true":null,onInput:m=>f(m.target.value),onBlur:d};return i`
    <div class="ed-field">
      <label for=${c}>${e}</label>
      ${o===1?i`<input type=${a} ref=${$} ...${h} />`:i`<textarea rows=${p} ...${h} />`}
      ${l&&i`<p id=${l} class=${r?"fail":"note"}>${r||s}</p>`}
    </div>`}function vr({label:e,value:t,onCommit:n,hint:o}){let[s,r]=k(""),a=JSON.stringify(t,null,2),c=u=>{let f;try{f=JSON.parse(u)}catch(d){r(`Not in the file yet, for it is not JSON: ${d.message}`);return}r(""),n(f)};return i`<${ce} label=${`${e} (JSON)`} value=${a} lines=${2} problem=${s} hint=${o} onCommit=${c} />`}function Te({label:e,value:t,lines:n,onCommit:o,onRemove:s,hint:r}){return t!=null&&typeof t!="string"?i`<${vr} label=${e} value=${t} onCommit=${o} hint=${r} />`:i`<${ce} label=${e} value=${t??""} lines=${n} onCommit=${c=>c===""&&s?s():o(c)} hint=${r} />`}function pt({label:e,value:t,onCommit:n,onRemove:o,hint:s}){let[r,a]=k(""),c=u=>{let f=u.trim(),d=f!==""&&Number.isFinite(Number(f));a(d||f===""&&o?"":"Not in the file yet: a number is needed."),d?n(Number(f)):f===""&&o&&o()};return i`<${ce} label=${e} value=${t==null?"":String(t)}
    problem=${r} hint=${s} onCommit=${c} />`}function en({data:e,known:t,where:n,change:o,noun:s}){let[r,a]=k(""),c=he(),u=Object.keys(e).filter($=>!t.includes($)),f=r.trim(),d=async()=>{f&&!(f in e)&&await o("set",[...n,f],_r[f]??"")&&a("")};return i`
    ${u.map($=>i`
      <div class="ed-other" key=${$}>
        <${Te} label=${$} value=${e[$]??void 0} lines=${1}
          onCommit=${p=>o("set",[...n,$],p)} />
        <button onClick=${()=>o("remove",[...n,$])} aria-label=${`Remove ${$}`} title="Remove">×</button>
      </div>`)}
    <div class="ed-add">
      <label for=${c}>Further field of the ${s}</label>
      <input id=${c} value=${r} onInput=${$=>a($.target.value)}
        onKeyDown=${$=>$.key==="Enter"&&d()} />
      <button onClick=${d} disabled=${!f||f in e}>Add field</button>
    </div>`}function To({noun:e,n:t,place:n,where:o,change:s,onPlace:r,blank:a,copyName:c,isReadOnly:u}){let f=async($,p,l,h)=>{await s($,[...o,p],l)&&r(h)},d=async()=>{if(!await s("copy",[...o,n]))return;let[$,p]=c(n);await s("set",[...o,n+1,$],p),r(n+1)};return u?null:i`
    <fieldset class="ed-tools" aria-label=${`Change the list of ${e==="criterion"?"criteria":"cases"}`}>
      <button onClick=${()=>f("insert",t?n:-1,a(),t?n+1:0)}>Add</button>
      <button disabled=${!t} onClick=${d}>Duplicate</button>
      <button disabled=${n<1} onClick=${()=>f("move",n,-1,n-1)} aria-label="Move up">↑</button>
      <button disabled=${n>=t-1} onClick=${()=>f("move",n,1,n+1)} aria-label="Move down">↓</button>
      <button disabled=${!t} onClick=${()=>f("remove",n,null,Math.max(0,Math.min(n,t-2)))}>Delete</button>
    </fieldset>`}function Po({label:e,items:t,place:n,onPlace:o}){let s=A(null);return i`
    <ul class="ed-items" ref=${s} aria-label=${e} onKeyDown=${a=>{let c={ArrowDown:1,ArrowUp:-1}[a.key];if(!c)return;a.preventDefault();let u=[...s.current.querySelectorAll("button")],f=u[u.indexOf(document.activeElement)+c];f?.focus(),f?.click()}}>
      ${t.map(a=>i`
        <li key=${a.place}>
          <button aria-current=${a.place===n?"true":null} onClick=${()=>o(a.place)}>
            <strong><bdi>${a.name}</bdi></strong>
            ${a.tags?.map(c=>i`<span class="ed-tag"><bdi>${c}</bdi></span>`)}
            <span class="note" dir="auto">${a.words}</span>
          </button>
        </li>`)}
    </ul>`}function Oo(e){let t=typeof e=="string"?e:JSON.stringify(e)??"";return t.length>Co?`${t.slice(0,Co)}…`:t}function $t(e,t){for(let n=2;;n++)if(!t.includes(`${e}-${n}`))return`${e}-${n}`}function So(e){return Array.isArray(e)?e.filter(t=>typeof t=="string"):[]}function Lo({file:e,caseId:t,onCase:n,change:o,isReadOnly:s}){let[r,a]=k(""),[c,u]=k(null),f=he(),d=e.cases_at,$=(d.length?e.data[d[0]]:e.data).map(g=>g&&typeof g=="object"&&!Array.isArray(g)?g:{}),p=(g,w)=>Object.keys(e.aliases).find(P=>e.aliases[P]===w&&P in g&&!(w in g))??w,l=$.map(g=>String(g[p(g,"id")]??"")),h=t===null?0:Math.max(0,l.indexOf(t)),m=Math.min(c&&l[c.place]===(c.id??l[c.place])?c.place:h,Math.max(0,$.length-1)),C=g=>{u({place:g}),n(l[g]??null)},x=g=>g[p(g,"input")],_=r.trim().toLowerCase(),y=$.map((g,w)=>({place:w,name:l[w]||"(no id)",words:Oo(x(g)),tags:So(g.tags)})).filter(g=>!_||`${g.name} ${g.words} ${g.tags.join(" ")}`.toLowerCase().includes(_)),S=$[m],I=[...d,m],O=g=>w=>o("set",[...I,g],w),W=g=>g in S?()=>o("remove",[...I,g]):null,b=["tags",...["id","input","reference","context"].map(g=>S?p(S,g):g)];return i`
    <div class="ed-list">
      <div class="ed-field">
        <label for=${f}>Find a case</label>
        <input id=${f} type="search" value=${r} onInput=${g=>a(g.target.value)} />
      </div>
      <p class="note" role="status">${y.length===$.length?`${$.length} cases`:`${y.length} of ${$.length} cases`}${y.length>Zt?`, the first ${Zt} are listed`:""}</p>
      <${To} noun="case" n=${$.length} place=${m} where=${d} change=${o} isReadOnly=${s} onPlace=${g=>u({place:g})}
        blank=${()=>({id:$t("case",l),input:""})} copyName=${g=>["id",$t(l[g],l)]} />
      <${Po} label="Cases" items=${y.slice(0,Zt)} place=${m} onPlace=${C} />
    </div>
    ${S&&i`
      <fieldset class="ed-fields" disabled=${s} aria-label=${`Case ${l[m]}`} key=${`${m} of ${$.length}`}>
        <p class="note">Line ${e.lines[m]}</p>
        <${ce} label="id" value=${l[m]} hint="Names results and stored judgments."
          onCommit=${async g=>{await o("set",[...I,p(S,"id")],g)&&(u({place:m}),n(g))}} />
        <${Te} label=${p(S,"input")} value=${x(S)} lines=${5} onCommit=${O(p(S,"input"))} />
        ${["reference","context"].map(g=>i`
          <${Te} key=${g} label=${p(S,g)} value=${S[p(S,g)]} lines=${3}
            onCommit=${O(p(S,g))} onRemove=${W(p(S,g))} />`)}
        <${ce} label="tags" value=${So(S.tags).join(", ")} hint="Separated by commas."
          onCommit=${g=>O("tags")(g.split(",").map(w=>w.trim()).filter(Boolean))} />
        <${en} data=${S} known=${b} where=${I} change=${o} noun="case" />
      </fieldset>`}`}var yr=["name","question","scoring_guide","scale","weight","required","pass_value"];function Ao({data:e,change:t,isReadOnly:n}){let[o,s]=k(0),r=e.criteria.map(l=>l&&typeof l=="object"?l:{}),a=Math.min(o,Math.max(0,r.length-1)),c=r.map(l=>String(l.name??"")),u=r[a],f=["criteria",a],d=l=>h=>t("set",[...f,l],h),$=l=>l in u?()=>t("remove",[...f,l]):null,p=l=>h=>t("set",[l],h);return i`
    <div class="ed-list">
      <fieldset disabled=${n} aria-label="Rubric">
      <${ce} label="Name of the rubric" value=${String(e.name??"")} onCommit=${p("name")} />
      <${pt} label="pass_threshold" value=${e.pass_threshold} hint="The least overall value that passes, 0 to 1."
        onCommit=${p("pass_threshold")} onRemove=${"pass_threshold"in e?()=>t("remove",["pass_threshold"]):null} />
      </fieldset>
      <${To} noun="criterion" n=${r.length} place=${a} where=${["criteria"]} change=${t} isReadOnly=${n} onPlace=${s}
        blank=${()=>({name:$t("criterion",c),question:""})} copyName=${l=>["name",$t(c[l],c)]} />
      <${Po} label="Criteria" items=${r.map((l,h)=>({place:h,name:c[h]||"(no name)",words:Oo(l.question??"")}))}
        place=${a} onPlace=${s} />
    </div>
    ${u&&i`
      <fieldset class="ed-fields" disabled=${n} aria-label=${`Criterion ${c[a]}`} key=${`${a} of ${r.length}`}>
        <${ce} label="name" value=${c[a]} onCommit=${d("name")} />
        <${Te} label="question" value=${u.question} lines=${3} onCommit=${d("question")} />
        <${kr} scale=${u.scale} where=${[...f,"scale"]} change=${t} />
        <${Te} label="scoring_guide" value=${u.scoring_guide} lines=${3} onCommit=${d("scoring_guide")} onRemove=${$("scoring_guide")} />
        <div class="ed-row">
          <${pt} label="weight" value=${u.weight} hint="Its share in the overall value; 1 if missing." onCommit=${d("weight")} onRemove=${$("weight")} />
          <${pt} label="pass_value" value=${u.pass_value} hint="The least value that passes, 0 to 1." onCommit=${d("pass_value")} onRemove=${$("pass_value")} />
          <${wr} label="required" value=${u.required===!0} onCommit=${d("required")} />
        </div>
        <${en} data=${u} known=${yr} where=${f} change=${t} noun="criterion" />
      </fieldset>`}`}function wr({label:e,value:t,onCommit:n}){let[o,s]=Eo(t,n);return i`<label class="ed-check"><input type="checkbox" checked=${o}
    onChange=${r=>s(r.target.checked)} /> ${e}</label>`}function kr({scale:e,where:t,change:n}){return Array.isArray(e)&&e.every(s=>s&&typeof s=="object"&&"value"in s)?i`
    <fieldset class="ed-levels">
      <legend>scale</legend>
      ${e.map((s,r)=>i`
        <div class="ed-level" key=${`${r} of ${e.length}`}>
          <${pt} label=${`Value ${r+1}`} value=${s.value} onCommit=${a=>n("set",[...t,r,"value"],a)} />
          <${ce} label="Anchor" value=${String(s.description??"")} lines=${2} onCommit=${a=>n("set",[...t,r,"description"],a)} />
          <button aria-label=${`Remove level ${s.value}`} title="Remove" disabled=${e.length<3} onClick=${()=>n("remove",[...t,r])}>×</button>
        </div>`)}
      <button onClick=${()=>n("insert",[...t,e.length-1],{value:xr(e),description:""})}>Add level</button>
    </fieldset>`:i`<${Te} label="scale" value=${e} lines=${1} onCommit=${s=>n("set",t,s)}
      hint='The name of a scale, such as likert5; or JSON: a list of levels, each with a value and a description.' />`}function xr(e){let t=e.map(o=>Number(o.value)).filter(Number.isFinite),n=t.at(-1)??0;return t.length>1&&t[0]>n?n-1:n+1}var Cr=["name","dataset","rubric","profile","cases"];function Io({data:e,profiles:t,change:n,isReadOnly:o}){let s=u=>f=>n("set",[u],f),r=u=>u in e?()=>n("remove",[u]):null,[a,c]=Eo(e.profile??"",u=>u?n("set",["profile"],u):n("remove",["profile"]));return i`
    <fieldset class="ed-fields" disabled=${o} aria-label="Suite">
      <${ce} label="name" value=${String(e.name??"")} onCommit=${s("name")} />
      ${["dataset","rubric"].map(u=>i`
        <${Te} key=${u} label=${u} value=${e[u]} lines=${1} onCommit=${s(u)} onRemove=${r(u)} />`)}
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
      <${en} data=${e} known=${Cr} where=${[]} change=${n} noun="suite" />
    </fieldset>`}var Sr=600,mt="\0typed",Mo=new Set(["suite","rubric","cases","template","partial","outputs"]);function jo({path:e,file:t,listing:n,caseId:o,onCase:s,isReadOnly:r}){let a=n.files.filter(w=>w.kind==="suite").map(w=>w.path),[c,u]=k(a.includes(e)?e:a[0]),[f,d]=k(null),[$,p]=k(""),[l,h]=k(""),[m,C]=k(null),[x,_]=k(""),y=A(0),S=f===mt,I={case_id:o,variant:S?null:f,output:S?$:null,model:l.trim()||null},O={path:e,text:t.text,suite:c,settings:I},W=JSON.stringify(O),b=async w=>{try{let P=await te("/api/edit/preview",O);if(w!==y.current)return;P.error||C({...P,key:W}),_(P.error??"")}catch(P){if(w!==y.current)return;_(P.message)}};if(j(()=>{let w=++y.current;if(!c||!Mo.has(t.kind))return;let P=setTimeout(()=>b(w),m||x?Sr:0);return()=>clearTimeout(P)},[W,t.kind]),!Mo.has(t.kind))return null;if(!c)return i`<aside class="ed-preview" aria-label="Preview"><h2>Preview</h2>
      <p class="note">Prompts are shown with a suite, which names the judge: there is none in this folder. <code>judgekit init</code> makes one.</p></aside>`;let g=m?.key===W;return i`
    <aside class="ed-preview" aria-label="Preview" aria-busy=${!g&&!x}>
      <h2>What the judge reads</h2>
      <div class="ed-choices">
        ${a.length>1&&i`<${tn} label="Suite" value=${c} options=${a} onChoose=${u} />`}
        ${m&&i`
          <${tn} label="Case" value=${m.case_id} options=${m.cases} onChoose=${s} />
          <${tn} label="Output" value=${f??m.variant??mt} onChoose=${d}
            options=${[...m.variants,mt]} names=${{[mt]:"typed here"}} />
          <${Er} judges=${m.judges} model=${l} onModel=${h} />`}
      </div>
      ${S&&i`<${Tr} text=${$} onText=${p} />`}
      ${x&&i`<p class="ed-narrow">No preview: <bdi>${x}</bdi></p>`}
      ${m&&!x&&i`
        ${m.notes.map(w=>i`<p class="note">${w}</p>`)}
        <${Or} body=${O} preview=${m} isCurrent=${g&&!x} isReadOnly=${r} />
        ${!S&&m.variant&&i`<details><summary>Output of ${m.variant}</summary><pre dir="auto">${m.output}</pre></details>`}
        ${m.requests.map((w,P)=>i`<${Pr} key=${P} request=${w} isOpen=${P===0} />`)}`}
    </aside>`}function tn({label:e,value:t,options:n,names:o={},onChoose:s}){let r=he();return i`<div class="ed-field">
    <label for=${r}>${e}</label>
    <select id=${r} value=${t} onChange=${a=>s(a.target.value)}>
      ${n.map(a=>i`<option key=${a} value=${a} selected=${a===t}>${o[a]??a}</option>`)}
    </select></div>`}function Er({judges:e,model:t,onModel:n}){let o=he();return i`<div class="ed-field">
    <label for=${o}>Model</label>
    <input id=${o} value=${t} placeholder=${e.join(", ")||"none"} onChange=${s=>n(s.target.value)} />
  </div>`}function Tr({text:e,onText:t}){let n=he();return i`<div class="ed-field">
    <label for=${n}>Output to judge</label>
    <textarea id=${n} rows="4" value=${e} onInput=${o=>t(o.target.value)} />
  </div>`}function Pr({request:e,isOpen:t}){let n=e.repeat?`, repeat ${e.repeat+1}`:"";return i`
    <details open=${t}>
      <summary><strong>${e.criterion??"all criteria"}</strong>${n}: ${e.tokens}, ${e.price}</summary>
      <p class="note">${e.judge}; tokens counted by ${e.token_source}</p>
      ${e.messages.map(o=>i`
        <h3>${o.role}</h3>
        <pre class="ed-prompt" dir="auto">${o.content}</pre>`)}
    </details>`}function Or({body:e,preview:t,isCurrent:n,isReadOnly:o}){let[s,r]=k("ready"),[a,c]=k(null),[u,f]=k("");j(()=>{r("ready"),c(null),f("")},[t.calls_key]);let d=async()=>{r("running"),f("");try{let l=await te("/api/edit/preview",{...e,calls_key:t.calls_key});l.error?f(l.error):c(l)}catch(l){f(l.message)}r("ready")},$=A(null);j(()=>{s==="confirm"&&$.current.focus()},[s]);let p=t.n_calls===0||t.price.includes("not recorded");return o?i`<p><strong>${t.price}</strong></p>`:i`
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
      <div role="status">${u&&i`<p class="error">${u}</p>`}${a&&i`<${Lr} result=${a} />`}</div>
    </div>`}function Lr({result:e}){return i`
    <p class=${`conclusion ${e.tone}`}>${e.conclusion}</p>
    ${e.notes.map(t=>i`<p class="error">${t}</p>`)}
    ${e.judgments.map(t=>i`
      <section class="ed-judgment">
        <h3>${t.criterion}: ${t.raw} <span class="note">value ${t.value.toFixed(2)}, ${t.cached?"cached":t.cost_usd===null?"price unknown":`$${t.cost_usd?t.cost_usd.toPrecision(2):0}`}${t.confidence===null?"":`, confidence ${t.confidence}`}</span></h3>
        <p class="note">${t.judge}</p>
        <p dir="auto">${t.rationale}</p>
        ${t.evidence.map(n=>i`<blockquote dir="auto">${n.quote}${!n.match&&i` <span class="fail">! not in the output</span>`}</blockquote>`)}
      </section>`)}`}var No=3,Ar=40,Do=300;function Ro({dialog:e,path:t,file:n,onSave:o,onSettle:s,onClose:r}){let a=A(null);j(()=>{a.current.showModal()},[]);let c=n.problems.filter(d=>d.severity==="error"&&d.path===t).length,u=e.kind==="conflict",f=u?e.disk.text:n.saved;return i`
    <dialog class="ed-dialog" ref=${a} onClose=${r} aria-labelledby="ed-dialog-title">
      <h2 id="ed-dialog-title">${u?"Changed on disk":`Changes to ${t}`}</h2>
      ${e.message&&i`<p class="error" role="alert">${e.message}</p>`}
      ${u?i`<p>Below: what is on disk now (−), and what you have here (+).</p>`:c>0&&i`<p class="fail">✗ With ${c} ${c===1?"error":"errors"} it cannot be used until ${c===1?"it is":"they are"} corrected.</p>`}
      <${Ir} before=${f} after=${n.text} />
      <div class="ed-buttons">
        ${u?i`
              <button onClick=${()=>s(e.disk,!0)}>Keep mine, and look at the changes again</button>
              <button onClick=${()=>s(e.disk,!1)}>Discard mine, take the file on disk</button>`:i`<button class="ed-save" autofocus onClick=${o}>${c?`Save with ${c} ${c===1?"error":"errors"}`:"Save"} <kbd>Ctrl+S</kbd></button>`}
        <button onClick=${()=>a.current.close()}>Cancel</button>
      </div>
    </dialog>`}function Ir({before:e,after:t}){let n=Ke(e,t,{timeout:Do});if(!n)return i`<p class="note">The texts have too little in common to be compared line by line.</p>`;let o=[];return n.forEach((s,r)=>{let a=s.value.replace(/\n$/,"").split(`
`);if(!s.added&&!s.removed){o.push(...Mr(a,r===0,r===n.length-1));return}let c=s.removed?n[r+1]:n[r-1],f=c&&(s.removed?c.added:c.removed)&&c.count===s.count&&s.count<=Ar?c.value.replace(/\n$/,"").split(`
`):[];a.forEach((d,$)=>o.push({sign:s.removed?"−":"+",line:d,other:f[$]}))}),i`
    <div class="ed-diff" tabindex="0" role="region" aria-label="Changed lines">
      ${o.map(s=>{if(s.folded)return i`<div class="ed-fold">${s.folded} unchanged lines</div>`;if(!s.sign)return i`<div><span>  </span>${s.line}</div>`;let r=s.sign==="+"?"ins":"del";return i`<${r} class="ed-line"><span class="hidden">${s.sign==="+"?"added: ":"removed: "}</span><span aria-hidden="true">${s.sign} </span><${jr} row=${s} /></${r}>`})}
    </div>`}function Mr(e,t,n){let o=t?0:No,s=n?0:No;return e.length<=o+s+1?e.map(r=>({line:r})):[...e.slice(0,o).map(r=>({line:r})),{folded:e.length-o-s},...s?e.slice(-s).map(r=>({line:r})):[]]}function jr({row:e}){let t=e.sign==="+",n=e.other===void 0?null:ut(t?e.other:e.line,t?e.line:e.other,{timeout:Do});return n?n.filter(o=>t?!o.removed:!o.added).map(o=>o.added||o.removed?i`<mark>${o.value}</mark>`:o.value):e.line}var Nr=300,Dr="/edit",Rr=/^\/edit(?:\/(.+))?$/;function Fo(){let e=Rr.exec(location.pathname),t=document.getElementById("main");if(!e||!Xt()||!t)return;let n=document.createElement("div"),o=e[1]&&e[1].split("/").map(decodeURIComponent).join("/");for(;t.querySelector("h1").nextSibling;)t.querySelector("h1").nextSibling.remove();t.append(n),document.querySelector(".skip").textContent="Skip to the editor",ee(i`<${Wr} path=${o} />`,n)}function ht(){return new URLSearchParams(location.hash.slice(1))}function Wo(e){let t=ht();for(let[n,o]of Object.entries(e))o===null?t.delete(n):t.set(n,o);history.replaceState(null,"",`#${t}`)}function Bo(){let e=matchMedia("(max-width: 44rem)"),[t,n]=k(e.matches);return j(()=>{let o=()=>n(e.matches);return e.addEventListener("change",o),()=>e.removeEventListener("change",o)},[]),t}function Wr({path:e}){let[t,n]=k(null),[o,s]=k(""),r=()=>te("/api/edit/files",{}).then(n,u=>s(u.message));j(()=>{r()},[]);let a=Bo();if(o)return i`<p class="error" role="alert">${o}</p>`;if(!e)return i`<${qr} listing=${t} />`;let c=i`<${Fr} listing=${t} path=${e} />`;return i`
    <div class="editor">
      <nav class="ed-files" aria-label="Files" aria-busy=${!t}>
        ${a?i`<details><summary>Files of ${t?.folder}</summary>${c}</details>`:c}
      </nav>
      <div class="ed-work"><${Br} path=${e} listing=${t} onSaved=${r} /></div>
    </div>`}function qr({listing:e}){return e?e.files.length?i`
    <p>Each change is checked as <code>judgekit validate</code> and <code>judgekit lint</code> check it; nothing is written before you save.</p>
    <div class="wide"><table>
      <thead><tr><th scope="col">file</th><th scope="col">type</th><th scope="col">problems</th></tr></thead>
      <tbody>
        ${e.files.map(t=>i`
          <tr key=${t.path}>
            <th scope="row"><a href=${nn(t.path)}><bdi>${t.path}</bdi></a></th>
            <td>${t.kind}</td>
            <td>${t.n_errors||t.n_warnings?i`<${Uo} file=${t} />`:i`<span class="pass">✓ none</span>`}</td>
          </tr>`)}
      </tbody>
    </table></div>
    <${Ho} files=${e.files} />`:i`<p>There are no files of judgekit in this folder. <code>judgekit init</code> makes a suite to begin with.</p>`:i`<p class="note" aria-busy="true">Reading the folder …</p>`}function Ho({files:e}){let t=e.find(n=>n.command);return t&&i`<p class="note">To run it: <code>${t.command}</code></p>`}function Fr({listing:e,path:t}){return e?i`
    <p class="ed-folder"><a href=${Dr}>${e.folder}</a></p>
    <ul>
      ${e.files.map(n=>i`
        <li key=${n.path}>
          <a href=${nn(n.path)} aria-current=${n.path===t?"page":null}><bdi>${n.path}</bdi></a>
          <span class="note">${n.kind} <${Uo} file=${n} /></span>
        </li>`)}
    </ul>
    <${Ho} files=${e.files} />`:i`<p class="note">Reading the folder …</p>`}function Uo({file:e}){let t=[];return e.n_errors&&t.push(i`<span class="fail">✗ ${qo(e.n_errors,"error")}</span>`),e.n_warnings&&t.push(i`<span class="inconclusive">! ${qo(e.n_warnings,"warning")}</span>`),t}function qo(e,t){return`${e} ${t}${e===1?"":"s"}`}function nn(e){return`/edit/${e.split("/").map(encodeURIComponent).join("/")}`}function Br({path:e,listing:t,onSaved:n}){let[o,s]=k(null),r=A(null),[a,c]=k(""),[u,f]=k(ht().get("view")),[d,$]=k(ht().get("case")),[p,l]=k(null),[h,m]=k(""),[C,x]=k(null),_=A({timer:0,number:0}),y=A(Promise.resolve()),S=A(null),I=Bo(),O=L=>s(r.current={...r.current,...L}),W=async()=>{try{let L=await te("/api/edit/open",{path:e});O({...L,saved:L.text});let B=Number(ht().get("line"));B&&E(B)}catch(L){c(L.message)}};j(()=>{W()},[e]);let b=!!(o&&o.text!==o.saved);j(()=>{if(document.title=`${b?"* ":""}${e}`,!b)return;let L=B=>B.preventDefault();return addEventListener("beforeunload",L),()=>removeEventListener("beforeunload",L)},[b]);let g=async()=>{let L=++_.current.number,{text:B}=r.current;try{let se=await te("/api/edit/check",{path:e,text:B});L===_.current.number&&B===r.current.text&&O(se),c("")}catch(se){c(se.message)}},w=L=>{m(""),O({text:L}),clearTimeout(_.current.timer),_.current.timer=setTimeout(g,Nr)},P=(L,B,se=null)=>{let be=y.current.then(async()=>{let z,T;do z=r.current.text,T=await te("/api/edit/change",{path:e,text:z,kind:L,where:B,value:se});while(z!==r.current.text);_.current.number++,O(T),c(""),m("")});return y.current=be.catch(z=>c(z.message)),be.then(()=>!0,()=>!1)},D=L=>{f(L),Wo({view:L})},N=L=>{$(L),Wo({case:L})},E=L=>{D("text"),x({line:L})},v=!!o&&!o.is_recorded&&!I,F=async()=>{v&&(S.current=document.activeElement,S.current?.blur(),clearTimeout(_.current.timer),await y.current,await g(),r.current.text===r.current.saved?m("There are no changes to save."):l({kind:"save"}))},ne=()=>{l(null),S.current?.focus()},ue=async()=>{let{text:L,version:B,problems:se}=r.current,be=se.some(z=>z.severity==="error");try{let z=await te("/api/edit/save",{path:e,text:L,version:B,allow_errors:be});O({saved:L,version:z.version}),ne(),m("Saved."),n()}catch(z){z instanceof Ee&&z.status===409?l({kind:"conflict",disk:z.reply,message:z.message}):l({kind:"save",message:z.message})}},Ve=(L,B)=>{O({saved:L.text,version:L.version}),ne(),B||O({text:L.text}),g()};if(j(()=>{let L=B=>{!(B.ctrlKey||B.metaKey)||B.key.toLowerCase()!=="s"||(B.preventDefault(),p?.kind==="save"?ue():p||F())};return addEventListener("keydown",L),()=>removeEventListener("keydown",L)}),!o)return a?i`<p class="error" role="alert">${a}</p>`:i`<p class="note" aria-busy="true">Opening …</p>`;let de=o.is_recorded||I,fe=Hr(o),pe=fe.some(L=>L.name===u)?u:fe[0].name,ze=o.problems.filter(L=>L.path===e);return i`
    <div class="ed-bar">
      <div role="group" aria-label="View" class="ed-views">
        ${fe.map(L=>i`<button aria-pressed=${String(L.name===pe)} onClick=${()=>D(L.name)}>${L.label}</button>`)}
      </div>
      <span class="ed-state" role="status">${h||(b?"Not saved":"")}</span>
      ${v&&i`<button class="ed-save" disabled=${!b} onClick=${F}>Save … <kbd>Ctrl+S</kbd></button>`}
    </div>
    ${I&&i`<p class="ed-narrow">This window is too narrow for editing: files can be read here, and edited in a wider one.</p>`}
    ${o.is_recorded&&i`<p class="ed-narrow">This file holds recorded ${o.kind==="recorded replies"?"replies":"results"}: it can be read, but not edited.</p>`}
    ${a&&i`<p class="error" role="alert">${a}</p>`}
    <${Kr} file=${o} path=${e} onJump=${E} />
    <div class="ed-panes">
      <div class="ed-pane">
        ${pe==="text"?i`<${xo} path=${e} text=${o.text} problems=${ze} isReadOnly=${de} target=${C} onInput=${w} />`:i`<div class="ed-form">
              ${pe==="cases"&&i`<${Lo} file=${o} caseId=${d} onCase=${N} change=${P} isReadOnly=${de} />`}
              ${pe==="rubric"&&i`<${Ao} data=${o.data} change=${P} isReadOnly=${de} />`}
              ${pe==="suite"&&i`<${Io} data=${o.data} profiles=${o.profiles} change=${P} isReadOnly=${de} />`}
            </div>`}
      </div>
      ${t&&i`<${jo} path=${e} file=${o} listing=${t} caseId=${d} onCase=${N} isReadOnly=${I} />`}
    </div>
    ${p&&i`<${Ro} dialog=${p} path=${e} file=${o}
      onSave=${ue} onSettle=${Ve} onClose=${ne} />`}
  `}function Hr(e){let t=[];return e.form==="rubric"&&Array.isArray(e.data?.criteria)&&t.push({name:"rubric",label:"Criteria"}),e.form==="suite"&&t.push({name:"suite",label:"Suite"}),e.cases_at&&t.push({name:"cases",label:"Cases"}),[...t,{name:"text",label:"Text"}]}var Ur={error:"✗",warning:"!"};function Kr({file:e,path:t,onJump:n}){let o=A(null);X(()=>{o.current.textContent!==e.summary&&(o.current.textContent=e.summary)},[e.summary]);let s=e.problems.some(r=>r.severity==="error")?"fail":e.problems.length?"inconclusive":"pass";return i`
    <section class=${`ed-problems ${s}`} aria-label="Problems">
      <p><span>${e.kind}: </span><strong role="status" ref=${o}></strong></p>
      ${e.problems.length>0&&i`
        <ul>
          ${e.problems.map(r=>i`
            <li>
              <span class=${r.severity==="error"?"fail":"inconclusive"}>${Ur[r.severity]} ${r.severity}</span>${" "}
              <${Jr} problem=${r} path=${t} onJump=${n} />${" "}
              <bdi>${r.message}</bdi>${r.remedy&&i` <span class="note">(${r.remedy})</span>`}
              ${r.rule&&i` <code>${r.rule}</code>`}
            </li>`)}
        </ul>`}
    </section>`}function Jr({problem:e,path:t,onJump:n}){let o=e.line===null?"":`line ${e.line}`;if(e.path===t)return o&&i`<button class="ed-link" onClick=${()=>n(e.line)}>${o}</button>`;if(!e.path)return null;let s=e.line===null?"":`#view=text&line=${e.line}`;return i`<a href=${nn(e.path)+s}><bdi>${e.path}</bdi> ${o}</a>`}var gt=2;function Vr([e,t]){return`/diff?a=${encodeURIComponent(e)}&b=${encodeURIComponent(t)}`}function zr({boxes:e}){let[t,n]=k([]);for(let s of e)s.checked=t.includes(s.value),s.onchange=()=>{let r=t.filter(a=>a!==s.value);n(s.checked?[...r.slice(1-gt),s.value]:r)};let o=gt-t.length;return i`
    <div class="chosen">
      ${o===0?i`<a class="button" href=${Vr(t)}>Side by side</a>`:i`<button type="button" disabled>Side by side</button>`}
      ${t.length>0&&i`
        <button type="button" onClick=${()=>n([])}>Clear</button>`}
      <span role="status">${o===gt?"Tick two rows to see them side by side.":o?`${t[0]}; tick one more row.`:`${t[0]} and ${t[1]}`}</span>
    </div>
  `}function Ko(){let e=[...document.querySelectorAll("[data-choice]")];if(e.length<gt)return;let t=e.map(o=>{let s=document.createElement("input");s.type="checkbox",s.value=o.dataset.choice,s.setAttribute("aria-label",`Side by side: ${o.dataset.choice}`);let r=document.createElement("label");return r.className="tick",r.append(s),o.prepend(r),s}),n=document.createElement("div");e[0].closest(".wide").before(n),ee(i`<${zr} boxes=${t} />`,n)}function Gr({address:e,lines:t}){let[n,o]=k(null),[s,r]=k("");if(j(()=>{let c=new EventSource(e);return c.addEventListener("progress",u=>{let f=JSON.parse(u.data);o(f),r(""),f.lines.forEach((d,$)=>{t[$]&&(t[$].textContent=d)})}),c.addEventListener("end",()=>{c.close(),location.reload()}),c.addEventListener("problem",u=>{c.close(),r(JSON.parse(u.data).text)}),c.onerror=()=>r("judgekit view does not answer. Is it still running?"),()=>c.close()},[e]),!n)return i`<p class="note">${s||"Loading the progress …"}</p>`;let a=n.total?Math.min(1,n.done/n.total):null;return i`
    <div class="live">
      <progress aria-label="Progress of the run" max=${n.total??void 0}
        value=${a===null?void 0:Math.min(n.done,n.total)}></progress>
      <span class="live-text">${n.lines[0]}</span>
    </div>
    <p class="hidden" role="status">${Yr(n,a)}</p>
    ${n.hint&&i`<p class="note">${n.hint}</p>`}
    ${s&&i`<p class="note" role="alert">${s}</p>`}
  `}function Yr(e,t){return t===null?"":`${Math.floor(t*10)*10} % of ${e.total}`}function Jo(){let e=document.getElementById("live");if(!e)return;let t=document.querySelectorAll("main > dl dd");ee(i`<${Gr} address=${e.dataset.events} lines=${t} />`,e)}function Pe(e){return{annotator:e,answers:{},flags:{},seconds:{},saved:null,changed:null}}function ae(e,t,n){return e.answers[t.id]?.[n]??null}function Ne(e){return e!=null&&(e.cannot||e.choice!=null)}var Oe=e=>e.name??"";function oe(e,t,n,o){let s=ae(t,n,Oe(e.criteria[o]));return Ne(s)?e.reason&&!s.cannot&&!s.comment.trim():!0}function _t(e,t,n){return n.criteria.every(o=>!oe(e,t,n,o))}var Vo=(e,t)=>(t?.at??"")>(e?.at??"")?t:e;function De(e,t){let n={...e,answers:{...e.answers},flags:{...e.flags},seconds:{...e.seconds}};for(let[s,r]of Object.entries(t.answers)){let a={...n.answers[s]};for(let[c,u]of Object.entries(r))a[c]=Vo(a[c],u);n.answers[s]=a}for(let[s,r]of Object.entries(t.flags))n.flags[s]=Vo(n.flags[s],r);for(let[s,r]of Object.entries(t.seconds))n.seconds[s]=Math.max(n.seconds[s]??0,r);let o=s=>[e[s],t[s]].filter(Boolean).sort().at(-1)??null;return{...n,saved:o("saved"),changed:o("changed")}}function Qr(e){let t=2166136261;for(let n of e)t=Math.imul(t^n.codePointAt(0),16777619);return t=Math.imul(t^t>>>15,2246822507),(t^t>>>13)>>>0}var zo=10;function on(e,t){let n=s=>Qr(`${e.packet} ${t} ${s.id}`),o=e.items.filter(s=>!s.again);o.sort((s,r)=>s.part-r.part||n(s)-n(r)||(s.id<r.id?-1:1));for(let s of e.items.filter(r=>r.again)){let r=o.findIndex(a=>a.id===s.again);o.splice(Math.min(o.length,r+zo+n(s)%zo),0,s)}return o}function Go(e,t,n){return n.flatMap((o,s)=>{let r=o.criteria.map(u=>Oe(e.criteria[u])),a=r.filter(u=>Ne(ae(t,o,u))||ae(t,o,u)?.comment.trim());return(a.length||!t.flags[o.id]?.on?a:r.slice(0,1)).map(u=>sn(e,t,o,u,s+1))})}function sn(e,t,n,o,s){let r=ae(t,n,o),a={packet:e.packet,position:s,labelled_at:r?.at??new Date().toISOString()};t.seconds[n.id]&&(a.seconds=Math.round(t.seconds[n.id])),r?.cannot&&(a.cannot_judge=!0),t.flags[n.id]?.on&&(a.flagged=!0);let c={case_id:n.id};return o!==""&&(c.criterion=o),c.annotator=t.annotator,r&&!r.cannot&&r.choice!=null&&(c[e.pairs?"winner":"raw"]=r.choice),r?.comment.trim()&&(c.rationale=r.comment.trim()),c.metadata=a,c}function rn(e,t){let n=new Map(e.items.map(r=>[r.id,r])),o=new Set(t.map(r=>r.annotator));if(o.size>1)throw new Error("This file has the answers of several people. Open a file of one person.");let s=Pe(String([...o][0]??""));for(let r of t){let a=r.metadata??{},c=n.get(r.case_id);if(a.packet!==e.packet||!c)throw new Error("This file belongs to another labelling page, so that its answers do not fit here.");let f={choice:r.raw??r.winner??null,cannot:a.cannot_judge===!0,comment:String(r.rationale??""),at:String(a.labelled_at??"")};s.answers[c.id]={...s.answers[c.id],[r.criterion??""]:f},a.flagged&&(s.flags[c.id]={on:!0,at:f.at}),a.seconds&&(s.seconds[c.id]=a.seconds),f.at>(s.changed??"")&&(s.changed=f.at)}return s}function Yo(e,t){let n=t.split(`
`).map(s=>s.trim()).filter(Boolean),o;try{o=n.map(s=>JSON.parse(s))}catch{throw new Error("This is not a file that this page has saved: it cannot be read.")}if(!o.length||o.some(s=>s===null||typeof s!="object"))throw new Error("This file has no answers.");return rn(e,o)}var an=(e,t)=>`judgekit-label ${e.packet} ${t}`,Qo=e=>`judgekit-label-name ${e.packet}`;function bt(e,t){try{let n=localStorage.getItem(an(e,t));return n?De(Pe(t),JSON.parse(n)):null}catch{return null}}function Xo(e){try{return localStorage.getItem(Qo(e))??""}catch{return""}}function Re(e,t){let n=De(t,bt(e,t.annotator)??Pe(t.annotator));try{return localStorage.setItem(an(e,t.annotator),JSON.stringify(n)),localStorage.setItem(Qo(e),t.annotator),!0}catch{return!1}}function Zo(e,t,n){return n===an(e,t)}function es(e,t){let n=t.map(r=>`${JSON.stringify(r)}
`).join(""),o=URL.createObjectURL(new Blob([n],{type:"application/jsonl"})),s=document.createElement("a");s.href=o,s.download=e,document.body.append(s),s.click(),s.remove(),setTimeout(()=>URL.revokeObjectURL(o),1e3)}function ts(e){return`labels-${e.normalize("NFKD").replace(/[^\p{L}\p{N}]+/gu,"-").replace(/^-+|-+$/g,"").toLowerCase()||"annotator"}.jsonl`}var Xr="judgekit-label/1",Zr=12e4,ea=5,ta=5;function ss(){let e=document.getElementById("label-data"),t=document.getElementById("label");if(!e||!t)return;let n=JSON.parse(e.textContent);if(n.format!==Xr)return;let o=[...t.querySelectorAll("#label-task > p")].map(r=>r.textContent),s=t.dataset.answers??null;t.replaceChildren(),ee(i`<${aa} task=${n} intro=${o} store=${s} />`,t)}var na=e=>[...e].sort((t,n)=>t-n)[Math.floor(e.length/2)],oa=e=>new Date(e).toLocaleTimeString([],{hour:"2-digit",minute:"2-digit"}),yt=(e,t,n=`${t}s`)=>`${e.toLocaleString("en")} ${e===1?t:n}`,sa=e=>e.closest?.("input:not([type=checkbox]), textarea, select")!=null,ra=e=>e.closest?.("button, a, summary, label, input")!=null;function aa({task:e,intro:t,store:n}){let[o,s]=k("start"),[r,a]=k(null),[c,u]=k(""),[f,d]=k(!1),[$,p]=k(0),l=A({n:0,last:Promise.resolve()}),h=A(null);h.current=r;function m(b,g){let w={...b,changed:new Date().toISOString()};h.current=w,a(w),d(!Re(e,w)),n&&g&&C(w,g)}function C(b,g){let w=l.current;p(w.n+=1),w.last=w.last.then(()=>x(b,g)).finally(()=>p(w.n-=1))}async function x(b,{item:g,name:w,position:P}){try{await te(n,{annotator:b.annotator,labels:[sn(e,b,g,w,P)]});let D={...h.current,saved:new Date().toISOString()};h.current=D,a(D),u("")}catch(D){u(`The last answer is not stored: ${D.message} It is kept in this browser; choose it again to store it.`)}}async function _(b){let g=bt(e,b)??Pe(b);if(n)try{let{labels:w}=await te(n,{annotator:b,labels:[]}),P={...rn(e,w),annotator:b};g=De(g,P);for(let[D,N]of on(e,b).entries())for(let E of N.criteria.map(v=>Oe(e.criteria[v]))){let[v,F]=[g,P].map(ne=>ae(ne,N,E)?.choice??null);v!==F&&!N.again&&C(g,{item:N,name:E,position:D+1})}}catch(w){u(`The answers that are stored cannot be read: ${w.message}`);return}u(""),a(g),d(!Re(e,g)),s("items")}function y(b){try{let g=Yo(e,b),w=De(bt(e,g.annotator)??Pe(g.annotator),g);if(u(""),n&&Re(e,w))return void _(g.annotator);a({...w,saved:w.saved??g.changed}),d(!Re(e,w)),s("items")}catch(g){u(g.message)}}let S=J(()=>r?on(e,r.annotator):[],[r?.annotator]);function I(){es(ts(r.annotator),Go(e,r,S));let b={...h.current,saved:new Date().toISOString()};h.current=b,a(b),Re(e,b)}j(()=>{let b=w=>{let P=h.current;(n?l.current.n>0:P?.changed&&P.changed>(P.saved??""))&&w.preventDefault()},g=w=>{let P=h.current;if(!P||!w.newValue||!Zo(e,P.annotator,w.key))return;let D=De(P,JSON.parse(w.newValue));h.current=D,a(D)};return addEventListener("beforeunload",b),addEventListener("storage",g),()=>{removeEventListener("beforeunload",b),removeEventListener("storage",g)}},[]);let O=f?i`<p class="banner fail" role="alert">! This browser does not keep your answers. Use “Save file” often, and before you close the page.</p>`:null,W=c&&i`<p class="banner fail" role="alert">! ${c}</p>`;return o==="practice"?i`<${os} task=${ns(e)} items=${ns(e).items} work=${Pe("practice")}
      isPractice leave=${()=>s("start")} />`:o==="start"?i`${W}<${ia} task=${e} intro=${t} isStored=${n!=null} begin=${_} resume=${y}
      practise=${()=>s("practice")} />`:i`${O}${W}<${os} task=${e} items=${S} work=${r} change=${m} save=${I} isRefused=${f}
    isStored=${n!=null} isSending=${$>0} resume=${y} leave=${()=>s("start")} />`}function ia({task:e,intro:t,isStored:n,begin:o,resume:s,practise:r}){let[a,c]=k(Xo(e)),[u,f]=k("");function d($){$.preventDefault();let p=a.trim().replace(/\s+/g," ");p?o(p):f("Type your name first.")}return i`
    <section aria-label="The task">
      ${t.map($=>i`<p>${$}</p>`)}
      <p>${n?"Every answer is stored at once in the project from which this page is served.":"Your answers are kept in this browser only, and nothing is sent anywhere. Use “Save file” when you have finished, and send that file back."}</p>
    </section>
    <form class="start" onSubmit=${d} novalidate>
      <label for="annotator">Your name</label>
      <input id="annotator" autocomplete="name" maxlength="80" value=${a} aria-describedby="name-gap"
        onInput=${$=>c($.currentTarget.value)} />
      <button class="main">Start</button>
      <button type="button" onClick=${r}>Try it first</button>
      <${rs} resume=${s} />
      <p id="name-gap" class="fail" role="alert">${u}</p>
    </form>
    <section aria-label="What is asked">
      ${e.criteria.map($=>i`
        <section class="criterion"><h2>${$.name??"Preference"}</h2><${as} criterion=${$} /></section>`)}
    </section>
    <${is} task=${e} />
  `}function rs({resume:e}){let t=A(null);async function n(o){let[s]=o.currentTarget.files;o.currentTarget.value="",s&&e(await s.text())}return i`<button type="button" onClick=${()=>t.current.click()}>Resume from file</button>
    <input type="file" hidden ref=${t} accept=".jsonl,.json,application/jsonl" aria-label="File of your answers" onChange=${n} />`}var vt=e=>e.levels.every((t,n)=>t.shown===String(n+1));function as({criterion:e}){let t=e.levels?.filter(n=>n.name||n.about)??[];return i`
    <p class="foreign">${e.question}</p>
    ${e.guide&&i`<p class="foreign guide">${e.guide}</p>`}
    ${t.length>0&&i`<dl class="anchors">${t.map(n=>i`
      <dt>${vt(e)||!n.name?n.shown:n.name}</dt>
      <dd>${vt(e)&&n.name}${vt(e)&&n.name&&n.about?": ":""}${n.about}</dd>`)}</dl>`}
  `}function is({task:e,isOpen:t}){let o=[...e.pairs?[["1","the first is better"],["2","the second is better"],["3","they are equally good"],["0","cannot judge"]]:[["1 … 9","score, by the number on the button; the next criterion follows"],["0","cannot judge this criterion"]],["Enter","next item"],["← →","item before, item after"],["↑ ↓","criterion before, after"],["Backspace","undo the last answer"],["m","comment (Esc leaves it)"],["f","flag this item, to come back to it"],["?","these keys"]];return i`<details class="keys" open=${t}><summary>Keys</summary><dl>${o.map(([s,r])=>i`<dt><kbd>${s}</kbd></dt><dd>${r}</dd>`)}</dl></details>`}function ns(e){let t=s=>({text:s,steps:""}),o={id:"practice",part:0,again:"",outputs:e.pairs?[t("You can return it within 30 days, with the receipt."),t("Returns are possible.")]:[t("You can return it within 30 days, with the receipt.")],about:[{title:"Input",text:"I bought a lamp last week. Can I return it?"}],criteria:e.criteria.map((s,r)=>r)};return{...e,packet:"practice",items:[o]}}function os({task:e,items:t,work:n,change:o,save:s,leave:r,resume:a,isPractice:c,isRefused:u,isStored:f,isSending:d}){let[$,p]=k(n),l=c?$:n,h=t.findIndex(T=>!_t(e,l,T)),[m,C]=k(h<0?t.length:h),[x,_]=k(0),[y,S]=k([]),[I,O]=k(""),[W,b]=k(!0),[g,w]=k(!1),[P,D]=k(0),N=A(null),E=A(null);X(()=>{E.current&&N.current?.querySelector(E.current)?.focus(),E.current=null});let v=t[m]??null,F=t.filter(T=>_t(e,l,T)).length,ne=ca(v,c);function ue(T){let M=Math.max(0,Math.min(t.length,T));C(M);let V=t[M]?.criteria.findIndex(H=>oe(e,l,t[M],H))??0;_(Math.max(0,V)),w(!1),O(M===t.length?"End of the items.":`Item ${M+1} of ${t.length}.`),scrollTo(0,0)}function Ve(T,M,V=!1){let H=Oe(e.criteria[v.criteria[T]]),re=ae(l,v,H)??{choice:null,cannot:!1,comment:""},G={...re,...M,at:new Date().toISOString()},Y={...l,answers:{...l.answers,[v.id]:{...l.answers[v.id],[H]:G}},seconds:{...l.seconds,[v.id]:(l.seconds[v.id]??0)+ne.take()}};return"comment"in M||S([...y,{at:m,place:T,before:re}]),c?p(Y):o(Y,V||e.reason&&oe(e,Y,v,v.criteria[T])?null:{item:v,name:H,position:m+1}),Y}function de(T,M,V){let H=Ve(T,{choice:M,cannot:M===null}),re=e.criteria[v.criteria[T]].name,G=v.criteria.findIndex(wt=>oe(e,H,v,wt)),Y=v.criteria.findIndex((wt,ds)=>ds>T&&oe(e,H,v,wt)),Ge=e.reason&&oe(e,H,v,v.criteria[T]),us=Ge?T:Y<0?G<0?T:G:Y;_(us),O(`${V}${re?` for ${re}`:""}. ${G<0?"Enter: next item.":""}`),Ge&&(E.current=`[data-place="${T}"] textarea`)}function fe(){let T=v.criteria.findIndex(re=>oe(e,l,v,re));if(T<0){ue(m+1),u&&F%ea===0&&D(F);return}_(T);let M=e.criteria[v.criteria[T]].name,V=ae(l,v,M??"");O(Ne(V)?"A reason is missing.":`Not answered yet${M?`: ${M}`:""}.`);let H=e.pairs||e.criteria[v.criteria[T]].levels.length;E.current=`[data-place="${T}"] ${Ne(V)?"textarea":H?"h3":"input"}`}function pe(){let T=y.at(-1);if(!T){O("There is nothing to undo.");return}S(y.slice(0,-1));let M=t[T.at],V=Oe(e.criteria[M.criteria[T.place]]),H=ae(l,M,V),re={...T.before,comment:H?.comment??"",at:new Date().toISOString()},G={...l,answers:{...l.answers,[M.id]:{...l.answers[M.id],[V]:re}}};c?p(G):o(G,{item:M,name:V,position:T.at+1}),C(T.at),_(T.place),O("The last answer is undone.")}function ze(){let T=!l.flags[v.id]?.on,M={...l.flags,[v.id]:{on:T,at:new Date().toISOString()}};c?p({...l,flags:M}):o({...l,flags:M}),O(T?"Flagged.":"Flag removed.")}function L(T){if(T.ctrlKey||T.metaKey){T.key==="Enter"&&v&&(T.preventDefault(),fe());return}if(T.altKey||!W||T.defaultPrevented)return;if(sa(T.target)){if(T.key==="Escape"){T.target.blur();let V=v?.criteria.findIndex(H=>oe(e,l,v,H))??-1;V>=0&&_(V)}return}let M={"?":()=>w(!g),ArrowLeft:()=>ue(m-1),Backspace:pe};if(v){let V=e.criteria[v.criteria[x]],H=e.pairs?ls:V.levels??[];(e.pairs?H.map(({value:G,name:Y})=>[G,Y]):H.map(G=>[G.value,G.shown])).forEach(([G,Y],Ge)=>M[Ge+1]=()=>de(x,G,Y)),!H.length&&/^[1-9.-]$/.test(T.key)&&N.current?.querySelector(`[data-place="${x}"] input`)?.focus(),M[0]=()=>de(x,null,"Cannot judge"),M.ArrowRight=()=>ue(m+1),M.ArrowDown=()=>_(Math.min(v.criteria.length-1,x+1)),M.ArrowUp=()=>_(Math.max(0,x-1)),M.f=ze,M.m=()=>{let G=y.at(-1),Y=G?.at===m&&oe(e,l,v,v.criteria[x])?G.place:x;_(Y),E.current=`[data-place="${Y}"] textarea`,O("Comment.")},ra(T.target)||(M.Enter=fe)}M[T.key]&&(T.preventDefault(),M[T.key]())}let B=A(null);B.current=L,j(()=>{let T=M=>B.current(M);return document.addEventListener("keydown",T),()=>document.removeEventListener("keydown",T)},[]);let se=i`<${ua} task=${e} items=${t} work=${l} nDone=${F} at=${m} isPractice=${c}
    isRefused=${u} isStored=${f} isSending=${d} save=${s} leave=${r} resume=${a} />`,be=P>0&&u?i`<p class="banner fail" role="alert">! ${yt(P,"item")} done, and this browser does not keep them.
        <button onClick=${()=>{s(),D(0)}}>Save file</button></p>`:null,z=i`<p class="hidden" role="status" aria-live="polite">${I}</p>`;return v?i`
    ${se}${be}${z}
    ${g&&i`<${$a} task=${e} hasKeys=${W} setHasKeys=${b} close=${()=>w(!1)} />`}
    <div class=${e.pairs?"item pair":"item"}>
      <${da} task=${e} item=${v} at=${m} />
      <div class="panel" ref=${N} onClick=${la}>
        ${v.criteria.map((T,M)=>i`
          <${fa} key=${`${v.id} ${T}`} task=${e} criterion=${e.criteria[T]} place=${M} isActive=${M===x}
            isGap=${oe(e,l,v,T)} answer=${ae(l,v,Oe(e.criteria[T]))}
            activate=${()=>_(M)} choose=${de} comment=${(V,H)=>Ve(M,{comment:V},H)} next=${fe} />`)}
        <div class="moves">
          <button onClick=${()=>ue(m-1)} disabled=${m===0}>← Back</button>
          <button aria-pressed=${!!l.flags[v.id]?.on} onClick=${ze}>⚑ Flag</button>
          <button onClick=${pe} disabled=${!y.length}>Undo</button>
          <button class="main" onClick=${fe}>Next item</button>
        </div>
        <button class="plain" aria-expanded=${g} onClick=${()=>w(!g)}>? Keys</button>
      </div>
    </div>`:i`${se}${be}${z}<${ma} task=${e} items=${t} work=${l} go=${ue} save=${s} leave=${r}
      isPractice=${c} isStored=${f} />`}function la(e){e.detail&&e.target.closest("button")?.blur()}function ca(e,t){let n=A({last:0,total:0}),o=()=>{let s=performance.now(),r=s-n.current.last;n.current.last&&r<=Zr&&!document.hidden&&(n.current.total+=r/1e3),n.current.last=s};return j(()=>{if(t)return;n.current={last:performance.now(),total:0};let s=["keydown","pointerdown","pointermove","wheel"];for(let r of s)addEventListener(r,o,{passive:!0});return()=>s.forEach(r=>removeEventListener(r,o))},[e?.id]),{take(){o();let{total:s}=n.current;return n.current.total=0,s}}}function ua({task:e,items:t,work:n,nDone:o,at:s,isPractice:r,isRefused:a,isStored:c,isSending:u,save:f,leave:d,resume:$}){if(r)return i`<header class="status"><p><strong>Practice</strong> Nothing that you do here is kept.</p>
      <button class="main" onClick=${d}>Back to the start</button></header>`;let p=Object.values(n.seconds).filter(x=>x>0),l=p.length<ta?e.seconds:na(p),h=Math.ceil((t.length-o)*l/60),m=c?"stored":a?"not kept":"kept in this browser",C=u?"storing …":n.changed?a?m:`${m} at ${oa(c?n.saved??n.changed:n.changed)}`:"";return i`
    <header class="status">
      <p><bdi><strong>${n.annotator}</strong></bdi>
        <span>${s<t.length?`item ${s+1} of ${t.length}`:`${t.length} items`}, ${o} done</span>
        ${C&&i`<span>${C}</span>`}
        ${o<t.length&&i`<span>about ${yt(h,"minute")} left</span>`}</p>
      <progress max=${t.length} value=${o} aria-label="Items done"></progress>
      <span class="tools"><button onClick=${f}>Save file</button><${rs} resume=${$} />
        <button class="plain" onClick=${d}>Task</button></span>
    </header>`}function da({task:e,item:t,at:n}){let o=A(null);X(()=>{document.activeElement===document.body&&o.current?.focus({preventScroll:!0})},[t.id]);let s=e.pairs?["FIRST","SECOND"]:["Output"];return i`
    <div class="texts">
      <h2 ref=${o} tabindex="-1">Item ${n+1}</h2>
      ${t.about.map(({title:r,text:a})=>i`<section><h3>${r}</h3><${ln} text=${a} /></section>`)}
      <div class="outputs">
        ${t.outputs.map((r,a)=>i`
          <section class="output"><h3>${s[a]}</h3>
            ${r.steps&&i`<details><summary>Steps</summary><${ln} text=${r.steps} /></details>`}
            <${ln} text=${r.text} /></section>`)}
      </div>
    </div>`}function ln({text:e}){return i`<div class="foreign">${e.split(/\n{2,}/).map(t=>i`<p dir="auto">${t}</p>`)}</div>`}var ls=[{value:"first",name:"First is better"},{value:"second",name:"Second is better"},{value:"tie",name:"Equally good"}];function fa({task:e,criterion:t,place:n,isActive:o,isGap:s,answer:r,activate:a,choose:c,comment:u,next:f}){let d=`question-${n}`,$=e.pairs?ls.map(({value:l,name:h})=>({value:l,shown:h,name:"",about:""})):t.levels,p=!e.pairs&&vt(t);return i`
    <section class=${o?"question active":"question"} data-place=${n} aria-labelledby=${d} onFocusIn=${a}>
      <h3 id=${d} tabindex="-1"><button class="plain" aria-expanded=${o} onClick=${a}>${t.name??"Preference"}</button>
        <span class=${s?"note":"pass"}>${s?Ne(r)?"reason missing":"open":"✓"}</span></h3>
      ${o&&i`<${as} criterion=${t} />`}
      ${$.length?i`<div class="scale" role="radiogroup" aria-labelledby=${d}>
            ${$.map((l,h)=>i`
              <button role="radio" aria-checked=${String(r?.choice===l.value)} onClick=${()=>c(n,l.value,l.shown)}>
                ${(p||!l.name)&&i`<strong>${l.shown}</strong>`}
                ${p&&l.name&&" "}${l.name&&i`<span>${l.name}</span>`}
                ${!p&&o&&i` <kbd aria-hidden="true">${h+1}</kbd>`}</button>`)}
            <button role="radio" class="cannot" aria-checked=${String(!!r?.cannot)}
              onClick=${()=>c(n,null,"Cannot judge")}><span>Cannot judge</span> ${o&&i`<kbd aria-hidden="true">0</kbd>`}</button>
          </div>`:i`<${pa} criterion=${t} answer=${r} place=${n} choose=${c} />`}
      ${(o||r?.comment)&&i`
        <label class="comment"><span>${e.reason?"Reason (required)":"Comment (optional)"}</span>
          <textarea rows="2" value=${r?.comment??""} onInput=${l=>u(l.currentTarget.value,!0)} onChange=${l=>u(l.currentTarget.value)}
            onKeyDown=${l=>{l.key==="Enter"&&!l.shiftKey&&!l.isComposing&&!l.ctrlKey&&!l.metaKey&&(l.preventDefault(),l.currentTarget.blur(),f())}}></textarea></label>`}
    </section>`}function pa({criterion:e,answer:t,place:n,choose:o}){let[s,r]=k(t?.choice??""),[a,c]=k("");function u(f){f.preventDefault();let d=Number(s);if(s===""||!(d>=e.min&&d<=e.max)||e.whole&&!Number.isInteger(d)){c(`Type a ${e.whole?"whole number":"number"} from ${e.min} to ${e.max}.`);return}c(""),f.currentTarget.querySelector("input").blur(),o(n,d,String(d))}return i`<form class="scale" onSubmit=${u} novalidate>
    <label>Score, ${e.min} to ${e.max} <input type="number" step="any" min=${e.min} max=${e.max}
      value=${s} onInput=${f=>r(f.currentTarget.value)} /></label>
    <button>Set</button>
    <button type="button" class="cannot" aria-pressed=${!!t?.cannot} onClick=${()=>o(n,null,"Cannot judge")}>Cannot judge</button>
    <p class="fail" role="alert">${a}</p></form>`}function $a({task:e,hasKeys:t,setHasKeys:n,close:o}){return i`<section class="help" aria-label="Keys"><${is} task=${e} isOpen />
    <label><input type="checkbox" checked=${t} onChange=${s=>n(s.currentTarget.checked)} /> Single keys are on</label>${" "}
    <button onClick=${o}>Close</button></section>`}function ma({task:e,items:t,work:n,go:o,save:s,leave:r,isPractice:a,isStored:c}){let u=A(null);if(X(()=>u.current?.focus(),[]),a)return i`<section class="end"><h2 ref=${u} tabindex="-1">That was the practice item</h2>
      <button class="main" onClick=${r}>Back to the start</button></section>`;let f=t.map((l,h)=>[l,h]).filter(([l])=>!_t(e,n,l)),d=t.map((l,h)=>[l,h]).filter(([l])=>n.flags[l.id]?.on),$=t.reduce((l,h)=>l+Object.values(n.answers[h.id]??{}).filter(m=>m.cannot).length,0),p=(l,h)=>h.length>0&&i`<h3>${l}</h3><p class="jumps">${h.map(([,m])=>i`<button onClick=${()=>o(m)}>Item ${m+1}</button>`)}</p>`;return i`
    <section class="end">
      <h2 ref=${u} tabindex="-1">${f.length?`${yt(f.length,"item is","items are")} not finished`:"All items are done"}</h2>
      ${$>0&&i`<p>You could not judge ${yt($,"criterion","criteria")}; that is recorded as such.</p>`}
      ${p("Not finished",f)}
      ${p("Flagged",d)}
      ${c?i`<p>Every answer is stored. You can close this page.</p>`:i`<p>Save the file and send it back to whoever gave you this page.</p><button class="main" onClick=${s}>Save file</button>`}
    </section>`}var cs=Cn(),cn=document.getElementById("cases");if(cs&&cn){cn.querySelector(".static").classList.add("print-only");let e=document.createElement("div");e.className="screen-only",cn.querySelector(".static").before(e),ee(i`<${bo} index=${cs} />`,e)}yo();vo();wo(document);Fo();Ko();Jo();ss();})();
