/* judgekit, with preact, htm, diff: licences in LICENSES.txt */
(()=>{var F,pn,$s,$e,xt,tt,mn,Xe,$n,St,Ct,hs,qe=Symbol.for("pv"),nt={},ot=[],gs=/^m(i|n|o|s|text|space)$/,Et=Array.isArray,Tt=ot.slice,we=Object.assign;function ye(e){e&&e.parentNode&&e.remove()}function hn(e,t,n){var o,s,r,a={},c=arguments.length;for(r in t)r=="key"?o=t[r]:r=="ref"&&typeof e!="function"?s=t[r]:a[r]=t[r];return c>2&&(a.children=c>3?Tt.call(arguments,2):n),We(e,a,o,s,null)}function We(e,t,n,o,s){var r={type:e,props:t,key:n,ref:o,__k:null,__:null,__b:0,__e:null,__c:null,constructor:qe,__v:s||++pn,__i:-1,__u:0};return!s&&F.vnode&&F.vnode(r),r}function st(e){return e.children}function Ze(e,t){this.props=e,this.context=t,this.__g=0}function he(e,t){if(t==null)return e.__&&he(e.__,e.__i+1);for(var n;t<e.__k.length;t++)if((n=e.__k[t])&&n.__e)return n.__e;return typeof e.type!="function"||e.props.__P?null:he(e)}function _s(e){var t,n=e.__v,o=n.__e,s=[],r=[],a=e.__P;a&&((t=we({constructor:qe},n)).__v=n.__v+1,F.vnode&&F.vnode(t),Pt(a,t,n,e.__n,a.namespaceURI,32&n.__u?[o]:null,s,o||he(n),32&n.__u,r),t.__v=n.__v,t.__.__k[t.__i]=t,wn(s,t,r),n.__=n.__e=null,t.__e!=o&&gn(t))}function gn(e){if((e=e.__)&&e.__c&&!e.props.__P)return e.__e=null,e.__k.some(function(t){return t&&(e.__e=t.__e)}),gn(e)}function dn(e){(8&e.__g||(e.__g|=8,$e.push(e),tt++))&&xt==F.debounceRendering||((xt=F.debounceRendering)||queueMicrotask)(_n)}function _n(){try{for(var e,t=1;$e.length;)$e.length>t&&$e.sort(mn),e=$e.shift(),t=$e.length,8&e.__g&&_s(e)}finally{(tt=$e.length)&&(xt||queueMicrotask)(_n)}}function bn(e,t,n,o,s,r,a,c,u,f,d){var m,p,l,h,g,y,C=o.__k||ot,_=t.length;for(u=bs(n,t,C,u,_),m=0;m<_;m++)(l=n.__k[m])!=null&&(p=~l.__i&&C[l.__i]||nt,l.__i=m,y=Pt(e,l,p,s,r,a,c,u,f,d),h=l.__e,(p.ref!=l.ref||8&p.__u)&&(p.ref&&Ot(p.ref,null,l,p),l.ref&&d.push(l.ref,l.__c||h,l)),g=g||h,4&l.__u?(u=vn(l,u,e,!p.__v),p.__e&&(p.__e=null)):typeof l.type=="function"&&y!==void 0?u=y:h&&(u=h.nextSibling),l.__u&=-21);return n.__e=g,u}function bs(e,t,n,o,s){var r,a,c,u,f,d,m,p,l,h=n.length,g=h,y=0,C=0,_=e.__k=Array(s);for(r=0;r<s;r++)(a=t[r])!=null&&typeof a!="boolean"&&typeof a!="function"?(typeof a!="object"||a.constructor===String?a=_[r]=We(null,a):Et(a)?a=_[r]=We(st,{children:a}):a.constructor===qe&&a.__b?a=_[r]=We(a.type,a.props,a.key,a.ref,a.__v):_[r]=a,u=r+y,a.__=e,a.__b=e.__b+1,c=null,~(f=a.__i=vs(a,n,u,g))&&(g--,(c=n[f])&&(c.__u|=2)),c&&c.__v?(a.__u|=16,f==u-1?y--:f==u+1?y++:f!=u&&(f>u?y--:y++,C=1)):(~f||(s>h?y--:s<h&&y++),typeof a.type!="function"&&(a.__u|=4))):_[r]=null;if(C){for(d=[],m=[],r=0;r<s;r++)if((a=_[r])&&16&a.__u){for(y=0,p=d.length;y<p;)d[l=y+p>>1]<a.__i?y=l+1:p=l;d[y]=a.__i,m[r]=y+1}for(y=d.length;r--;)m[r]&&(m[r]==y?y--:_[r].__u|=4)}if(g)for(r=0;r<h;r++)!(c=n[r])||2&c.__u||(c.__e==o&&(o=he(c)),Lt(c,c));return o}function vn(e,t,n,o){var s,r,a,c;if(typeof e.type=="function"){if(e.props.__P)return t;if(s=e.__k)for(r=0;r<s.length;r++)s[r]&&(s[r].__=e,t=vn(s[r],t,n,!1));return t}for(t&&!t.parentNode&&(t=he(e))&&!t.parentNode&&(t=null),a=e.__e,c=t;c&&c.nodeType==8;)c=c.nextSibling;for(a!=c&&(!o&&n.moveBefore&&a.parentNode?n.moveBefore(a,t):n.insertBefore(a,t||null)),t=a;(t=t&&t.nextSibling)&&t.nodeType==8&&!t.data.startsWith("$s"););return t}function vs(e,t,n,o){var s,r=e.key,a=e.type,c=t[n],u=c&&!(2&c.__u);if(c===null&&r==null||u&&r==c.key&&a==c.type)return n;if(o>(u?1:0)){for(s=n-1;s>=0;s--)if((c=t[s])&&!(2&c.__u)&&r==c.key&&a==c.type)return s;for(s=n+1;s<t.length;s++)if((c=t[s])&&!(2&c.__u)&&r==c.key&&a==c.type)return s}return-1}function fn(e,t,n){n==null&&(n=""),t[0]=="-"?e.setProperty(t,n):e[t]=n}function Qe(e,t,n,o,s){var r,a;if(t=="style")if(typeof n=="string")e.style.cssText=n;else{if(typeof o=="string"&&(e.style.cssText=o=""),o)for(t in o)n&&t in n||fn(e.style,t);if(n)for(t in n)o&&n[t]==o[t]||fn(e.style,t,n[t])}else if(t[0]=="o"&&t[1]=="n")typeof n!="function"&&(n=null),typeof o!="function"&&(o=null),(e.__e||(e.__e={}))[t]=n,n&&o||(a=Ct[t]||(Ct[t]=ys(t)),(e.__a||(e.__a={}))[t]=St,r=t!=(t=t.replace($n,"$1")),(t=t.slice(2))[0]<"a"&&(t=t.toLowerCase()),n?e.addEventListener(t,a,r):e.removeEventListener(t,a,r));else{if(s=="http://www.w3.org/2000/svg")t=t.replace(/xlink(H|:h)/,"h").replace(/sName$/,"s");else if(t!="width"&&t!="height"&&t!="href"&&t!="list"&&t!="form"&&t!="tabIndex"&&t!="download"&&t!="rowSpan"&&t!="colSpan"&&t!="role"&&t!="popover"&&t in e)try{return void(e[t]=n??"")}catch{}if(typeof n=="function")return;n==null||n===!1&&t[4]!="-"?e.removeAttribute(t):e.setAttribute(t,t=="popover"&&n==1?"":n)}}function ys(e){return function(t){var n=this.__e;if(n){if(n=n[e],t[Xe]==null)t[Xe]=St++;else if(t[Xe]<this.__a[e])return;return n(F.event?F.event(t):t)}}}function Pt(e,t,n,o,s,r,a,c,u,f){var d,m,p,l,h,g,y,C,_,v,S,P,O,q,D,$,w,x,L=t.type;if(t.constructor!==qe)return null;128&n.__u&&(u=32&n.__u,d=n.__c.__z)&&(t.__u|=u,m=r=[],d.nodeType==8?c=et(d,r):r.push(d),c=r[0]||c),(d=F.__b)&&d(t);e:if(typeof L=="function"){p=a.length;try{if(C=t.props,_=(d=L.prototype)&&d.render,v=(d=L.contextType)&&o[d.__c],S=d?v?v.props.value:d.__:o,(l=n.__c)?(t.__c=l,2&l.__g&&(l.__g|=1)):(_?t.__c=l=new L(C,S):(t.__c=l=new Ze(C,S),l.constructor=L,l.render=ks),v&&v.sub(l),l.state||(l.state={}),l.__n=o,l.__g|=8,l.__h=[],l.__k=[]),_&&(l.__s||(l.__s=l.state),L.getDerivedStateFromProps&&(l.__s==l.state&&(l.__s=we({},l.__s)),we(l.__s,L.getDerivedStateFromProps(C,l.__s)))),h=l.props,g=l.state,l.__v=t,n.__c){if(C!==h&&_&&!L.getDerivedStateFromProps&&l.componentWillReceiveProps&&l.componentWillReceiveProps(C,S),t.__v==n.__v&&!(8&l.__g)||!(4&l.__g)&&l.shouldComponentUpdate&&l.shouldComponentUpdate(C,l.__s,S)===!1){t.__v!=n.__v&&(l.props=C,l.state=l.__s,l.__g&=-9),t.__e=n.__e,t.__k=n.__k,t.__k.some(function(I){I&&(I.__=t)}),ot.push.apply(l.__h,l.__k),l.__k=[],l.__h.length&&a.push(l),c=he(n);break e}l.componentWillUpdate&&l.componentWillUpdate(C,l.__s,S),_&&l.componentDidUpdate&&l.__h.push(function(){l.componentDidUpdate(h,g,y)})}else _&&!L.getDerivedStateFromProps&&l.componentWillMount&&l.componentWillMount(),_&&l.componentDidMount&&l.__h.push(l.componentDidMount);l.context=S,l.props=C,l.__P=e,l.__g&=-5,P=F.__r,O=_?25:0;do l.__g&=-9,P&&P(t),d=l.render(l.props,l.state=l.__s,l.context);while(8&l.__g&&++O<25);_&&(ot.push.apply(l.__h,l.__k),l.__k=[]),l.state=l.__s,l.getChildContext&&(o=we({},o,l.getChildContext())),_&&n.__c&&l.getSnapshotBeforeUpdate&&(y=l.getSnapshotBeforeUpdate(h,g)),q=d&&d.type===st&&d.key==null?d.props.children:d,C.__P&&(d=c,s=(e=C.__P).namespaceURI,u=r=null,n.props&&n.props.__P!=e&&(n.__k.some(function(I){I&&Lt(I,I)}),n.__k=null),c=n.__k?he(n,0):null),c=bn(e,Et(q)?q:[q],t,n,o,s,r,a,c,u,f),C.__P&&(t.__e=null,c=d),t.__u&=-161,m&&m.some(ye),l.__h.length&&a.push(l),1&l.__g&&(l.__g&=-4)}catch(I){if(a.length=p,t.__v=null,u||r)if(I&&I.then){if(t.__u|=128|u,r){for(~(w=r.indexOf(c||void 0))||(w=r.length);(x=r[w-1])&&x.nodeType==8;)w--;for(;w<r.length;w++)if(x=r[w])if(r[w]=null,D){if(x==$)break}else{if(x.nodeType!=8)break;x.data.startsWith("$s")&&($=et(D=x))}}if(!D){for(;c&&c.nodeType==8&&c.nextSibling;)c=c.nextSibling;D=c}(d=et(D=t.__c.__z||(t.__c.__z=D)))?(t.__e=D,c=d):t.__e=c,c=c&&c.nextSibling}else r&&r.some(ye);else t.__e=n.__e;t.__k||(t.__k=n.__k||[]),I&&I.then||yn(t),F.__e(I,t,n)}}else c=t.__e=ws(n.__e,t,n,o,s,r,a,u,f,e);return(d=F.diffed)&&d(t),c}function et(e,t){if(e&&e.nodeType==8&&e.data.startsWith("$s"))for(var n=1;e=e.nextSibling;){if(e.nodeType==8){if(e.data.startsWith("$s"))n++;else if(e.data.startsWith("/$s")&&!--n)return e}t&&t.push(e)}}function yn(e){e&&(e.__c&&(e.__c.__g|=4),e.__k&&e.__k.some(yn))}function wn(e,t,n){for(var o=0;o<n.length;)Ot(n[o++],n[o++],n[o++]);F.__c&&F.__c(t,e),e.some(function(s){try{e=s.__h,s.__h=[],e.some(function(r){r.call(s)})}catch(r){F.__e(r,s.__v)}})}function ws(e,t,n,o,s,r,a,c,u,f){var d,m,p,l,h,g,y,C,_=n.props||nt,v=t.props,S=t.type;if(S=="svg"?s="http://www.w3.org/2000/svg":S=="math"?s="http://www.w3.org/1998/Math/MathML":s||(s="http://www.w3.org/1999/xhtml"),r){for(d=0;d<r.length;d++)if((h=r[d])&&(S?h.localName==S:h.nodeType==3)){e=h,r[d]=null;break}}if(!e){if(C=f.ownerDocument||document,!S)return C.createTextNode(v);e=C.createElementNS(s,S,v.is?v:f),c&&(F.__m&&F.__m(t,r),c=!1),r=null}if(S){if(f=S=="template"&&e.content||e,r=S=="textarea"&&v.defaultValue!=null?null:r&&Tt.call(f.childNodes),!c&&r)for(_={},d=0;d<e.attributes.length;d++)_[(h=e.attributes[d]).name]=h.value;for(d in _)h=_[d],d=="dangerouslySetInnerHTML"?p=h:d=="children"||d in v||d=="value"&&"defaultValue"in v||d=="checked"&&"defaultChecked"in v||Qe(e,d,null,h,s);for(d in v)h=v[d],d=="children"?l=h:d=="dangerouslySetInnerHTML"?m=h:d=="value"?g=h:d=="checked"?y=h:c&&typeof h!="function"||_[d]===h||Qe(e,d,h,_[d],s);m?(c||p&&(m.__html==p.__html||m.__html==e.innerHTML)||(e.innerHTML=m.__html),t.__k=[]):(p&&(e.textContent=""),(S=="foreignObject"||s=="http://www.w3.org/1998/Math/MathML"&&gs.test(S))&&(s="http://www.w3.org/1999/xhtml"),bn(f,Et(l)?l:[l],t,n,o,s,r,a,r?r[0]:n.__k&&he(n,0),c,u),r&&r.some(ye)),c&&S!="textarea"||(d="value",S=="progress"&&g==null?e.removeAttribute(d):g==null||g===e[d]&&(S!="progress"||g)||Qe(e,d,g,_[d],s),d="checked",y!=null&&y!=e[d]&&Qe(e,d,y,_[d],s))}else _===v||c&&e.data==v||(e.data=v);return e}function Ot(e,t,n,o){try{typeof e=="function"?t?t.__x=e(t)||1:o&&(o=o.__c||o.__e)&&(t=o.__x)&&(o.__x=null,typeof t=="function"?t():e(null)):e.current=t}catch(s){F.__e(s,n)}}function Lt(e,t,n){var o,s,r,a;if(F.unmount&&F.unmount(e),!(o=e.ref)||o.current&&o.current!=e.__e||Ot(o,null,t,e),o=e.__c){if(o.componentWillUnmount)try{o.componentWillUnmount()}catch(c){F.__e(c,t)}o.__P=o.__n=null}if(o=e.__k)for(a=0;a<o.length;a++)o[a]&&Lt(o[a],t,typeof e.type!="function"||n&&!e.props.__P);!n&&(o=e.__c)&&(o=o.__z)&&(s=et(o,r=[]))&&(o==e.__e&&r.some(ye),ye(s),ye(o)),n||ye(e.__e),e.__e=e.__c=e.__=null}function ks(e,t,n){return this.constructor(e,n)}function te(e,t){var n,o,s,r;F.__&&F.__(e,t),t.nodeType==9&&(t=t.documentElement),o=(n=e&&32&e.__u)?null:t.__k,t.__k=We(st,{children:[e]}),s=[],r=[],Pt(t,t.__k,o||nt,nt,t.namespaceURI,o?null:t.firstChild?Tt.call(t.childNodes):null,s,o?o.__e:t.firstChild,n,r),wn(s,t.__k,r),t.__k.props.children=null}F={__e:function(e,t,n,o){for(var s,r,a;t=t.__;)if((s=t.__c)&&!(1&s.__g)){s.__g|=4;try{if((a=(r=s.constructor)&&r.getDerivedStateFromError)&&s.setState(r.getDerivedStateFromError(e)),s.componentDidCatch&&(s.componentDidCatch(e,o||{}),a=1),a&&8&s.__g)return void(s.__g|=2)}catch(c){e=c}}throw tt=0,e}},pn=0,$s=function(e){return e!=null&&e.constructor===qe},Ze.prototype.setState=function(e,t){var n=this.__s;n&&n!=this.state||(n=this.__s=we({},this.state)),typeof e=="function"&&(e=e(we({},n),this.props)),e&&(we(n,e),this.__v&&(t&&this.__k.push(t),dn(this)))},Ze.prototype.forceUpdate=function(e){this.__v&&(this.__g|=4,e&&this.__h.push(e),dn(this))},Ze.prototype.render=st,$e=[],tt=0,mn=function(e,t){return e.__v.__b-t.__v.__b},Xe=Symbol(),$n=/(PointerCapture)$|Capture$/i,St=0,Ct={},hs=0;var xn=function(e,t,n,o){var s;t[0]=0;for(var r=1;r<t.length;r++){var a=t[r++],c=t[r]?(t[0]|=a?1:2,n[t[r++]]):t[++r];a===3?o[0]=c:a===4?o[1]=Object.assign(o[1]||{},c):a===5?(o[1]=o[1]||{})[t[++r]]=c:a===6?o[1][t[++r]]+=c+"":a?(s=e.apply(c,xn(e,c,n,["",null])),o.push(s),c[0]?t[0]|=2:(t[r-2]=0,t[r]=s)):o.push(c)}return o},kn=new Map;function Cn(e){var t=kn.get(this);return t||(t=new Map,kn.set(this,t)),(t=xn(this,t.get(e)||(t.set(e,t=(function(n){for(var o,s,r=1,a="",c="",u=[0],f=function(p){r===1&&(p||(a=a.replace(/^\s*\n\s*|\s*\n\s*$/g,"")))?u.push(0,p,a):r===3&&(p||a)?(u.push(3,p,a),r=2):r===2&&a==="..."&&p?u.push(4,p,0):r===2&&a&&!p?u.push(5,0,!0,a):r>=5&&((a||!p&&r===5)&&(u.push(r,0,a,s),r=6),p&&(u.push(r,p,0,s),r=6)),a=""},d=0;d<n.length;d++){d&&(r===1&&f(),f(d));for(var m=0;m<n[d].length;m++)o=n[d][m],r===1?o==="<"?(f(),u=[u],r=3):a+=o:r===4?a==="--"&&o===">"?(r=1,a=""):a=o+a[0]:c?o===c?c="":a+=o:o==='"'||o==="'"?c=o:o===">"?(f(),r=1):r&&(o==="="?(r=5,s=a,a=""):o==="/"&&(r<5||n[d][m+1]===">")?(f(),r===3&&(u=u[0]),r=u,(u=u[0]).push(2,0,r),r=0):o===" "||o==="	"||o===`
`||o==="\r"?(f(),r=2):a+=o),r===3&&a==="!--"&&(r=4,u=u[0])}return f(),u})(e)),t),arguments,[])).length>1?t:t[0]}var i=Cn.bind(hn);var xs="judgekit-page/1";function rt(e){return(Math.abs(e*8%2)===1?Math.round(e*50)/50:e).toFixed(2)}function Sn(){let e=document.getElementById("page-index");if(!e)return null;let t=JSON.parse(e.textContent);return t.format===xs?t:null}async function Cs(e){let t=Uint8Array.from(atob(e),o=>o.charCodeAt(0)),n=new Blob([t]).stream().pipeThrough(new DecompressionStream("gzip"));return JSON.parse(await new Response(n).text())}async function Ss(e){let t=await fetch(e);if(t.ok)return t.json();let n=t.headers.get("content-type")?.startsWith("application/json");throw new Error((n?(await t.json()).error:await t.text())||`the server answered ${t.status}`)}var ke=new Map,Es=8;function En(e){let t=ke.get(e);if(!t){let n=document.getElementById(`chunk-${e}`),o=document.getElementById("page-index").dataset.chunks;t=n?Cs(n.textContent):Ss(`${o}${e}`),t.catch(()=>ke.delete(e))}return ke.delete(e),ke.set(e,t),ke.size>Es&&ke.delete(ke.keys().next().value),t}async function Tn(e,t){return(await En(Math.floor(t/e.chunk)))[t%e.chunk]}var Mt=[],Ts=new Set(["tone","match","src"]);function*Pn(e){if(typeof e=="string")yield e;else if(e&&typeof e=="object")for(let[t,n]of Object.entries(e))Ts.has(t)||(yield*Pn(n))}function At(e,t){return Mt[t*e.chunk]!==void 0}async function On(e,t){let n=t*e.chunk;return At(e,t)||(await En(t)).forEach((s,r)=>{Mt[n+r]=[...Pn(s)].join(`
`).toLowerCase()}),Mt.slice(n,n+e.chunk)}var xe,K,jt,Ln,It=Object.is,Be=0,qn=[],Nt=[],H=F,Mn=H.__b,An=H.__r,jn=H.diffed,In=H.__c,Nn=H.unmount,Dn=H.__;function Ue(e,t){H.__h&&H.__h(K,e,Be||t),Be=0;var n=K.__H||(K.__H={__:[],__h:[]});return e>=n.__.length&&n.__.push({}),n.__[e]}function k(e){return Be=1,Ps(Bn,e)}function Ps(e,t,n){var o=Ue(xe++,2);if(o.t=e,!o.__c&&(o.__=[n?n(t):Bn(void 0,t),function(r){var a=(o.__N||o.__)[0],c=o.t(a,r);It(a,c)||(o.__N=[c,o.__[1]],o.__c.setState({}))}],o.__c=K,!K.__f)){K.__f=!0;var s=K.shouldComponentUpdate;K.shouldComponentUpdate=function(r,a,c){var u=this.__H;if(!u)return!0;var f=!1,d=this.props!=r;if(u.__.some(function(p){p.__N&&(f=!0,It(p.__[0],p.__N[0])||(d=!0))}),s){var m=s.call(this,r,a,c);return f?m||d:m}return!f||d}}return o.__}function N(e,t){var n=Ue(xe++,3);!H.__s&&Rt(n.__H,t)&&(n.__P=!0,n.__=e,n.u=t,K.__H.__h.push(n))}function Y(e,t){var n=Ue(xe++,4);!H.__s&&Rt(n.__H,t)&&(n.__P=!1,n.__=e,n.u=t,K.__h.push(n))}function A(e){return Be=5,J(function(){return{current:e}},[])}function J(e,t){var n=Ue(xe++,7);return Rt(n.__H,t)&&(n.__=e(),n.__H=t),n.__}function Fn(e,t){return Be=8,J(function(){return e},t)}function ge(){var e=Ue(xe++,11);if(!e.__){for(var t=K.__v;!t.__m&&t.__;)t=t.__;var n=t.__m||(t.__m=[0,0]);e.__="P"+n[0]+"-"+n[1]++}return e.__}function Os(){var e;do{for(;e=Nt.shift();)try{Fe(e)}catch(n){H.__e(n,{__:(e=e.__P)&&e.__v})}for(;e=qn.shift();){var t=e.__H;if(e.__P&&t)try{t.__h.some(Fe),t.__h.some(Dt),t.__h=[]}catch(n){t.__h=[],H.__e(n,e.__v)}}}while(Nt.length)}H.__b=function(e){K=null,Mn&&Mn(e)},H.__=function(e,t){e&&t.__k&&t.__k.__m&&(e.__m=t.__k.__m),Dn&&Dn(e,t)},H.__r=function(e){An&&An(e),xe=0;var t=(K=e.__c).__H;t&&(jt==K?K.__h=[]:(t.__h.some(Fe),t.__h.some(Dt),xe=0),t.__h=[],t.__.some(function(n){n.__N&&(n.__=n.__N),n.u=n.__N=void 0})),jt=K},H.diffed=function(e){jn&&jn(e);var t=e.__c;t&&t.__H&&(t.__H.__h.length&&Wn(qn.push(t)),t.__H.__.some(function(n){n.u&&(n.__H=n.u)})),jt=K=null},H.__c=function(e,t){t.some(function(n){try{n.__h.some(Fe),n.__h=n.__h.filter(function(o){return!o.__||Dt(o)})}catch(o){n.__h=[function(){throw o}]}}),In&&In(e,t)},H.unmount=function(e){Nn&&Nn(e);var t,n,o=e.__c;o&&o.__H&&(o.__H.__.some(function(s){try{if(s.__P&&s.__c){if(n===void 0){for(n=e.__;n&&(!n.__c||!n.__c.__P);)n=n.__;n=n&&n.__c}s.__P=n,Wn(Nt.push(s))}else Fe(s)}catch(r){t=r}}),o.__H=void 0,t&&H.__e(t,o.__v))};var Rn=typeof requestAnimationFrame=="function";function Ls(e){var t,n=function(){clearTimeout(o),Rn&&cancelAnimationFrame(t),setTimeout(e)},o=setTimeout(n,35);Rn&&(t=requestAnimationFrame(n))}function Wn(e){e!=1&&Ln==H.requestAnimationFrame||((Ln=H.requestAnimationFrame)||Ls)(Os)}function Fe(e){var t=K,n=e.__c;typeof n=="function"&&(e.__c=void 0,n()),K=t}function Dt(e){var t=K;e.__c=e.__(),K=t}function Rt(e,t){return!e||e.length!=t.length||t.some(function(n,o){return!It(n,e[o])})}function Bn(e,t){return typeof t=="function"?t(e):t}var Un=["case","state","variant","tag","stratum","q","sort","answer","with"];function je(){let e=new URLSearchParams(location.hash.slice(1));return Object.fromEntries(Un.filter(t=>e.get(t)).map(t=>[t,e.get(t)]))}function Wt(e){let t=new URLSearchParams;for(let o of Un)e[o]&&t.set(o,e[o]);let n=t.toString();return n?`#${n}`:""}function qt(e){return location.href.split("#")[0]+Wt(e)}function Hn(){let[e,t]=k(je);N(()=>{let o=()=>t(je());return addEventListener("popstate",o),addEventListener("hashchange",o),()=>{removeEventListener("popstate",o),removeEventListener("hashchange",o)}},[]);let n=Fn((o,{push:s=!1}={})=>{let r={...je(),...o},a=qt(r);s?history.pushState({pushed:!0},"",a):history.replaceState(history.state,"",a),t(je())},[]);return[e,n]}function ue(e){let[t,n]=k(()=>matchMedia(e).matches);return N(()=>{let o=matchMedia(e),s=()=>n(o.matches);return o.addEventListener("change",s),()=>o.removeEventListener("change",s)},[e]),t}var Kn=2,Ms=150;function As(e){return J(()=>e.ids.map((t,n)=>[t,e.snippets[n],e.strata[n]??"",...e.tags[n]].join(`
`).toLowerCase()),[e])}var js=()=>new Promise(e=>{globalThis.requestIdleCallback?requestIdleCallback(e,{timeout:100}):setTimeout(e)});function Jn(e,t){let n=(t??"").trim().toLowerCase(),o=As(e),s=J(()=>{if(!n)return null;let c=new Set;return o.forEach((u,f)=>u.includes(n)&&c.add(f)),c},[o,n]),[r,a]=k({needle:"",hits:new Set,share:1});return N(()=>{if(n.length<Kn)return;let c=!0,u=Math.ceil(e.n/e.chunk);async function f(){let d=new Set,m=performance.now();for(let p=0;p<u;p+=1){At(e,p)||await js();let l=await On(e,p);if(!c)return;l.forEach((g,y)=>g.includes(n)&&d.add(p*e.chunk+y));let h=performance.now();p+1<u&&h-m<Ms||(m=h,a({needle:n,hits:new Set(d),share:(p+1)/u}))}}return f().catch(d=>c&&a({needle:n,hits:new Set,share:1,error:d})),()=>{c=!1}},[e,n]),J(()=>s?r.needle!==n?{hits:s,share:n.length<Kn?1:0}:{hits:r.hits.union?.(s)??new Set([...s,...r.hits]),share:r.share,error:r.error}:{hits:null,share:1},[s,r,n])}function Is(e,t){if(!t)return e.order;let n=t.startsWith("-"),o=n?t.slice(1):t,s=e.columns.indexOf(o.replace(/^variant:/,"")),r=n?-1:1;if(o==="case"){let c=new Intl.Collator(void 0,{numeric:!0}).compare;return[...e.order].sort((u,f)=>r*c(e.ids[u],e.ids[f]))}if(s<0)return e.order;let a=e.cells[s].value;return[...e.order].sort((c,u)=>a[c]===null||a[u]===null?(a[c]===null)-(a[u]===null):r*(a[c]-a[u]))}function Vn(e,t,n){let o=J(()=>Is(e,t.sort),[e,t.sort]);return J(()=>{let s=e.columns.indexOf(t.variant),r=s<0?null:e.cells[s],a=e.filters.find(d=>d.key===t.state)?.bit??0,c=Object.fromEntries(e.filters.map(d=>[d.key,0])),u=[],f=0;for(let d of o){if(n&&!n.has(d)||r&&r.state[d]===null||t.tag&&!e.tags[d].includes(t.tag)||t.stratum&&e.strata[d]!==t.stratum)continue;let m=r?r.mask[d]:e.masks[d];f+=1;for(let p of e.filters)m&p.bit&&(c[p.key]+=1);(!a||m&a)&&u.push(d)}return{rows:u,counts:c,all:f}},[e,o,t.state,t.variant,t.tag,t.stratum,n])}function zn(e){let t=new Map;for(let n of e)t.set(n,(t.get(n)??0)+1);return[...t].sort(([n],[o])=>n.localeCompare(o))}function at({label:e,value:t,options:n,onChoose:o}){return i`<label class="choice">
    <span>${e}</span>
    <select value=${t??""} onChange=${s=>o(s.target.value)}>
      ${n.map(([s,r])=>i`<option value=${s} selected=${s===(t??"")}>${r}</option>`)}
    </select>
  </label>`}function Gn({filter:e,n:t,isOn:n,onClick:o}){return i`<button type="button" aria-pressed=${n} title=${e.title||null} disabled=${t===0&&!n} onClick=${o}>
    ${e.label} <span class="n">${t.toLocaleString("en")}</span>
  </button>`}function Yn({index:e,state:t,change:n,selection:o,search:s,searchBox:r,onFound:a,onHelp:c}){let u=ue("(max-width: 44rem)"),[f,d]=k(!1),m=J(()=>zn(e.tags.flat()),[e]),p=J(()=>zn(e.strata.filter(v=>v!==null)),[e]),l=v=>S=>n({[v]:S},{push:!0}),h=(v,S)=>[["",S],...v.map(([P,O])=>[P,`${P} (${O.toLocaleString("en")})`])],g=[["","what needs attention first"],["case","by case"],...e.columns.flatMap(v=>[[`variant:${v}`,`${v}, lowest first`],[`-variant:${v}`,`${v}, highest first`]])],y=["variant","tag","stratum","sort"].filter(v=>t[v]).length,C=v=>{v.key!=="Escape"&&v.key!=="Enter"||(v.preventDefault(),v.target.blur(),v.key==="Enter"&&a())},_=Math.floor(s.share*100);return i`<div class="filters" role="search" aria-label="Cases">
    <div class="states" role="group" aria-label="Show">
      <${Gn} filter=${{label:"All"}} n=${o.all} isOn=${!t.state}
        onClick=${()=>l("state")("")} />
      ${e.filters.map(v=>i`<${Gn} key=${v.key} filter=${v}
        n=${o.counts[v.key]} isOn=${t.state===v.key}
        onClick=${()=>l("state")(t.state===v.key?"":v.key)} />`)}
    </div>
    <div class="searching">
      <input type="search" ref=${r} value=${t.q??""} placeholder="Search ids and all texts"
        aria-label="Search ids and all texts" onInput=${v=>n({q:v.target.value})}
        onKeyDown=${C} />
      ${u&&i`<button type="button" aria-expanded=${f} onClick=${()=>d(!f)}>
        Filters${y>0&&` (${y})`}</button>`}
      <button type="button" onClick=${c} aria-label="Keyboard shortcuts" title="Keyboard shortcuts (?)">?</button>
    </div>
    ${(!u||f)&&i`<div class="choices">
      ${e.columns.length>1&&i`<${at} label="variant" value=${t.variant} onChoose=${l("variant")}
        options=${[["","any"],...e.columns.map(v=>[v,v])]} />`}
      ${m.length>0&&i`<${at} label="tag" value=${t.tag} onChoose=${l("tag")} options=${h(m,"any")} />`}
      ${p.length>0&&i`<${at} label="stratum" value=${t.stratum} onChoose=${l("stratum")} options=${h(p,"any")} />`}
      <${at} label="order" value=${t.sort} onChoose=${l("sort")} options=${g} />
    </div>`}
    <p class="count">
      <span role="status">${o.rows.length.toLocaleString("en")} of ${e.n.toLocaleString("en")} ${e.n===1?"case":"cases"}</span>
      ${s.share<1&&i`<span class="progress">, searching all texts: ${_} %</span>`}
      ${s.error&&i`<span class="fail">, the texts could not be searched: ${s.error.message}</span>`}
      ${Ns(t)&&i` <button type="button" class="plain" onClick=${()=>n({state:"",variant:"",tag:"",stratum:"",q:"",sort:""},{push:!0})}>Show all</button>`}
    </p>
  </div>`}function Ns(e){return["state","variant","tag","stratum","q","sort"].some(t=>e[t])}var Ds=34,Rs=108,Qn=8;function Ws(e,t){if(t===null)return 2;let n=e==="fail"?1-t:t;return 1+Math.min(3,Math.max(0,Math.floor(n*4)))}function qs({index:e,column:t,row:n,isAt:o,tag:s="td"}){let r=e.cells[t],a=r.state[n],c=e.columns[t],u=s==="td"?"cell":null;if(a===null)return s==="td"&&i`<td role="cell" class=${o?"cell at":"cell"} data-column=${t}></td>`;let{label:f,sign:d,tone:m}=e.states[a],p=r.value[n],l=r.text[n]||(p===null?"":rt(p));return i`<${s} role=${u} class=${`cell ${m}-fill s${Ws(m,p)}${o?" at":""}`}
    data-column=${t} title=${`${c}: ${f}`}>
    ${s!=="td"&&i`<bdi class="name">${c}</bdi> `}
    <span class=${`sign ${m}`} aria-hidden="true">${d}</span> ${l||i`<span class="word">${f}</span>`}
    ${l&&i`<span class="hidden">, ${f}</span>`}
  <//>`}function Xn({name:e,sortKey:t,state:n,change:o,className:s}){let r=n.sort===t,a=n.sort===`-${t}`,c=r?`-${t}`:a?"":t;return i`<th scope="col" role="columnheader" class=${s} aria-sort=${r?"ascending":a?"descending":null}>
    <button type="button" class="sort" title=${`Sort by ${e}`} onClick=${()=>o({sort:c},{push:!0})}>
      <bdi>${e}</bdi><span aria-hidden="true">${r?" ▲":a?" ▼":""}</span>
    </button>
  </th>`}function Zn({index:e,rows:t,state:n,change:o,active:s,setActive:r,column:a,openRow:c,focusing:u}){let f=A(null),d=A(!1),m=ue("(max-width: 44rem)"),p=m?Rs:Ds,[l,h]=k({top:0,height:800}),g=()=>{let{scrollTop:$,clientHeight:w}=f.current,x=Math.floor($/p)*p;h(L=>L.top===x&&L.height===w?L:{top:x,height:w})};Y(()=>{g();let $=new ResizeObserver(g);return $.observe(f.current),()=>$.disconnect()},[p,t.length]),Y(()=>{f.current.scrollTop=0},[n.state,n.variant,n.tag,n.stratum,n.q,n.sort]),Y(()=>{if(s<0)return;let{scrollTop:$,clientHeight:w}=f.current,x=s*p;x<$?f.current.scrollTop=x:x+2*p>$+w&&(f.current.scrollTop=x+2*p-w),g()},[s,p]);let y=Math.max(0,Math.floor(l.top/p)-Qn),C=Math.min(t.length,Math.ceil((l.top+l.height)/p)+Qn);N(()=>{if(u.current===s&&s>=y&&s<C){u.current=-1;let $=f.current.querySelector(`[data-place="${s}"]`);d.current=!0,$.querySelector("a").focus({preventScroll:!0}),d.current=!1,$.scrollIntoView({block:"nearest"})}});let _=e.tags.some($=>$.length>0)||e.strata.some($=>$!==null),v=$=>[e.strata[$],...e.tags[$]].filter(Boolean),S=2+(_?1:0)+e.columns.length,P=$=>i`<tr role="presentation" class="spacer" aria-hidden="true">
    <td role="presentation" colspan=${S} ref=${w=>w&&(w.style.height=`${$*p}px`)}></td></tr>`,O=$=>{$&&($.style.minWidth=m?"":`${(_?540:420)+108*e.columns.length}px`)},q=$=>{let w=$.target.closest("tr[data-row]");if(!w||$.ctrlKey||$.metaKey||$.shiftKey||!getSelection().isCollapsed)return;$.preventDefault();let x=$.target.closest("[data-column]")?.dataset.column;r(Number(w.dataset.place)),c(Number(w.dataset.row),x===void 0?void 0:e.columns[x])},D=e.columns.length<=4&&e.columns.some($=>$.length>12);return i`<div class=${D?"grid few":"grid"} ref=${f} onScroll=${g}>
    <table role="table" aria-label="Cases" aria-rowcount=${t.length+1} ref=${O} onClick=${q}>
      <colgroup><col class="c-id" /><col />${_&&i`<col class="c-tags" />`}
        ${e.columns.map(()=>i`<col class="c-value" />`)}</colgroup>
      <thead role="rowgroup"><tr role="row" aria-rowindex="1">
        <${Xn} name="case" sortKey="case" state=${n} change=${o} />
        <th scope="col" role="columnheader">input</th>
        ${_&&i`<th scope="col" role="columnheader">tags</th>`}
        ${e.columns.map($=>i`<${Xn} key=${$} name=${$} sortKey=${`variant:${$}`} state=${n} change=${o} />`)}
      </tr></thead>
      <tbody role="rowgroup">
        ${y>0&&P(y)}
        ${t.slice(y,C).map(($,w)=>{let x=y+w,L=x===s,I=E=>e.columns.map((b,W)=>i`<${qs} key=${b} tag=${E} index=${e} column=${W} row=${$} isAt=${L&&W===a} />`);return i`<tr key=${$} role="row" data-row=${$} data-place=${x} aria-rowindex=${x+2} class=${L?"active":null}>
            <th scope="row" role="rowheader" class="id"><a href=${Wt({...n,case:e.ids[$]})}
              tabindex=${L||s<0&&x===0?0:-1}
              onFocus=${()=>d.current||r(x)}><bdi>${e.ids[$]}</bdi></a></th>
            <td role="cell" class="snippet" dir="auto">${e.snippets[$]}</td>
            ${_&&i`<td role="cell" class="tags" title=${v($).join(", ")}>${v($).map(E=>i`<bdi class="tag">${E}</bdi> `)}</td>`}
            ${m?i`<td role="cell" class="cells">${I("span")}</td>`:I("td")}
          </tr>`})}
        ${C<t.length&&P(t.length-C)}
      </tbody>
    </table>
    ${t.length===0&&i`<p class="empty">${e.n===0?"There are no cases yet.":"No case matches. “Show all” removes the filters."}</p>`}
  </div>`}var eo="judgekit-single-keys";function Fs(){try{return localStorage.getItem(eo)!=="off"}catch{return!0}}function Bs(e){try{localStorage.setItem(eo,e?"on":"off")}catch{}}function to(){let[e,t]=k(Fs);return[e,n=>{Bs(n),t(n)}]}function de(e,t){let n=A(null);n.current=t?e:{},Y(()=>{let o=s=>{if(s.defaultPrevented||s.ctrlKey||s.metaKey||s.altKey||s.target.closest?.("input:not([type=checkbox]), select, textarea, [contenteditable]"))return;let r=n.current[s.key];r&&r()!==!1&&s.preventDefault()};return document.addEventListener("keydown",o),()=>document.removeEventListener("keydown",o)},[])}function Ft({label:e,className:t,onClose:n,children:o}){let s=A(null);return N(()=>{s.current.showModal(),s.current.focus()},[]),i`<dialog ref=${s} class=${t} aria-label=${e} tabindex="-1"
    onCancel=${r=>{r.preventDefault(),n()}}
    onClick=${r=>r.target===s.current&&n()}>${o}</dialog>`}function no({rows:e,isOn:t,setOn:n,onClose:o}){return i`<${Ft} label="Keyboard shortcuts" className="help" onClose=${o}>
    <div class="inside">
      <header><h2>Keyboard shortcuts</h2><button type="button" onClick=${o} aria-label="Close">✕</button></header>
      <table><tbody>${e.map(([s,r])=>i`<tr>
        <th scope="row">${s.split(" ").map(a=>i`<kbd>${a}</kbd> `)}</th><td>${r}</td></tr>`)}</tbody></table>
      <label class="check"><input type="checkbox" checked=${t} onChange=${s=>n(s.target.checked)} />
        Use shortcuts of a single key</label>
    </div>
  <//>`}var Us=/\r(?!\n)|[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]|\udb40[\udc00-\udc7f]/g,Hs=/^ {0,3}(```|~~~)[^\n]*\n[\s\S]*?(?:^ {0,3}\1[^\n]*$|$(?![\s\S]))/gm;function R(e){let t=[],n=0;for(let o of e.matchAll(Us)){let s=`U+${o[0].codePointAt(0).toString(16).toUpperCase().padStart(4,"0")}`;t.push(e.slice(n,o.index),i`<span class="chip" title="invisible character">${s}</span>`),n=o.index+o[0].length}return n?[...t,e.slice(n)]:e}function Ks(e,t,n){let o=new Set([0,e.length]);for(let{start:r,end:a}of[...t,...n])o.add(r).add(a);let s=[...o].sort((r,a)=>r-a);return s.slice(1).map((r,a)=>{let c=s[a],u=f=>f.start<=c&&r<=f.end;return{start:c,end:r,marks:t.filter(u),isCode:n.some(u)}})}var Bt=({images:e=[]})=>e.map(({src:t,title:n})=>i`<img class="picture" src=${t} alt=${n} title=${n} />`);function Z({text:e,images:t=[],mono:n=!1,marks:o=[],at:s=null,onPick:r=null,label:a=null}){let c=n?[]:[...e.matchAll(Hs)].map(f=>({start:f.index,end:f.index+f[0].length})),u=Ks(e,o,c).map(f=>{let d=R(e.slice(f.start,f.end)),m=f.isCode?i`<span class="code">${d}</span>`:d;if(f.marks.length===0)return m;let p=f.marks.filter(_=>_.no),l=f.marks.map(_=>_.note).filter(Boolean),h=p.map(_=>_.no),g=p.filter(_=>_.end===f.end).map(_=>_.no),y=h.length>0?[`${h.length>1?"quotes":"quote"} ${h.join(", ")}`]:[],C=[`n${Math.min(3,f.marks.length)}`,h.includes(s)&&"at",l.length>0&&"scrubbed"];return i`<mark class=${C.filter(Boolean).join(" ")}
      data-quotes=${h.join(" ")} data-ends=${g.join(" ")||null}
      title=${[...y,...l].join("; ")}
      onClick=${r&&h.length>0?()=>r(h[0]):null}>${m}${l.length>0&&i`<span class="hidden"> (${l.join("; ")})</span>`}</mark>`});return i`<div class=${`passage${n?" mono":""}`} dir="auto" tabindex="0" role="group" aria-label=${a}>${u}</div><${Bt} images=${t} />`}var Js={pass:"✓",fail:"✗",inconclusive:"?",error:"!"};function fe({tone:e,children:t}){return i`<span class=${`badge ${e}-fill`}><span class=${e} aria-hidden="true">${Js[e]??""}</span> ${t}</span>`}function _e({facts:e}){return e.length>0&&i`<p class="facts">${e.map((t,n)=>i`${n>0&&" · "}<bdi>${R(t)}</bdi>`)}</p>`}function Vs({quote:e,isAt:t,onPick:n}){let o=e.of?i`output <bdi>${R(e.of)}</bdi>`:"the output",s=e.match===null?i`<span class="fail">not found in ${o}</span>`:i`<span class="note">${e.of&&o}${e.match==="exact"?"":" found but for white space"}</span>`;return i`<li class=${t?"at":null} data-quote=${e.no}>
    ${e.match===null?i`<span class="number" aria-hidden="true">${e.no}</span>`:i`<button type="button" class="number" onClick=${()=>n(e.no)} title="Show it in the output">
          <span class="hidden">quote </span>${e.no}</button>`}
    <q dir="auto">${R(e.text)}</q> ${s}</li>`}function zs({exchange:e,omitted:t,isOpen:n}){return e?i`<details class="exchange" open=${n}>
    <summary>Prompt and reply</summary>
    ${e.note&&i`<p class="note">${e.note}</p>`}
    ${e.messages.map(o=>i`<h5>${o.role}</h5><${Z} text=${o.text} label=${o.role} />`)}
    ${e.reply!==null&&i`<h5>reply</h5><${Z} text=${e.reply} mono label="reply" />`}
  </details>`:t&&i`<details class="exchange" open=${n}><summary>Prompt and reply</summary><p class="note">${t}</p></details>`}function it({row:e,exchanges:t=[],view:n}){let o=e.tone==="error"?i`<${fe} tone="error">${e.score}<//>`:i`<strong class=${e.tone}>${R(e.score)}</strong>`;return i`<div class="opinion">
    <p>${e.who&&i`<span class="who"><bdi>${R(e.who)}</bdi>:</span> `}${o}${e.value&&i`<span class="dim"> → ${e.value}</span>`}</p>
    <${_e} facts=${e.facts} />
    ${e.rationale?i`<p class="rationale" dir="auto">${R(e.rationale)}</p>`:i`<p class="note">no reason</p>`}
    ${e.quotes.length>0&&i`<ol class="quotes">${e.quotes.map(s=>i`<${Vs} key=${s.no} quote=${s} isAt=${n.quote===s.no} onPick=${n.pick} />`)}</ol>`}
    ${e.reply&&i`<details><summary>What the judge wrote</summary><${Z} text=${e.reply} mono label="reply" /></details>`}
    <${zs} exchange=${t[e.exchange]} omitted=${n.omitted} isOpen=${n.isPromptOpen} />
  </div>`}function Gs({group:e,exchanges:t,question:n,view:o}){return i`<section class=${`criterion ${e.tone}-edge`}>
    <h4><bdi>${R(e.title)}</bdi> ${e.result&&i`<${fe} tone=${e.tone}>${e.result}<//>`}</h4>
    <${_e} facts=${e.facts} />
    ${n&&i`<p class="question" dir="auto">${R(n)}</p>`}
    ${e.rows.map(s=>i`<${it} row=${s} exchanges=${t} view=${o} />`)}
  </section>`}function oo({check:e}){return i`<li><${fe} tone=${e.tone==="inconclusive"?"error":e.tone}>${e.word}<//> <strong>${R(e.type)}</strong>
    <span dir="auto"> ${R(e.message)}</span>
    ${e.actual!==null&&i`<div class="dim">found <code>${R(e.actual)}</code></div>`}
    ${e.parts.length>0&&i`<ul class="checks">${e.parts.map(t=>i`<${oo} check=${t} />`)}</ul>`}
  </li>`}function so({answer:e,view:t}){return i`
    <h3>output</h3>
    ${e.error!==null&&i`<p class="no-output"><${fe} tone="error">no output<//> <span dir="auto">${R(e.error)}</span></p>`}
    ${e.output?i`<${Z} text=${e.output} images=${e.images} mono=${e.mono} marks=${e.marks} at=${t.quote} onPick=${t.pick} label="output" />`:e.error===null&&i`<p class="note">${e.is_verdict_only?"The file holds verdicts only, and no outputs.":"The output is empty."}</p>`}
    ${e.steps&&i`<h3>steps, as the judge was shown them</h3>
      <${Z} text=${e.steps.text} marks=${e.steps.marks} at=${t.quote} onPick=${t.pick} label="steps" />`}`}function ro({answer:e,questions:t,view:n}){let o=e.opinions;return i`
    ${e.checks.length>0&&i`<h3>assertions</h3><ul class="checks">${e.checks.map(s=>i`<${oo} check=${s} />`)}</ul>`}
    ${o.length>0&&i`<h3>judgments</h3>${o.map(s=>i`<${Gs} key=${s.title} group=${s} exchanges=${e.exchanges} question=${t[s.title]} view=${n} />`)}`}
    ${e.scores.length>0&&i`<h3>scores</h3><table class="scores"><tbody>${e.scores.map(s=>i`<tr>
      <th scope="row"><bdi>${R(s.name)}</bdi></th><td class="number">${s.value}</td><td dir="auto">${R(s.text)}</td></tr>`)}</tbody></table>`}
    ${e.checks.length+o.length+e.scores.length===0&&i`<p class="note">Nothing was checked or judged.</p>`}`}var Ys=400;function Qs({title:e,text:t,mono:n}){let o=i`<${Z} text=${t} mono=${n} label=${e||"content"} />`;return t.length<=Ys?i`${e&&i`<div class="part">${R(e)}</div>`}${o}`:i`<details><summary>${R(e)||"content"}, ${t.length.toLocaleString("en")} characters</summary>${o}</details>`}function ao({trace:e}){let t=Math.max(0,...e.map(o=>o.ms??0)),n=o=>s=>s&&(s.style.width=`${Math.max(1,100*o.ms/t)}%`);return i`<ol class="timeline">
    ${e.map(o=>i`<li class=${o.is_error?"is-error":null}>
      <div class="event"><span class="type">${o.is_error?"! ":""}${R(o.type)}</span>
        ${o.name&&i`<strong><bdi>${R(o.name)}</bdi></strong>`}
        ${o.took&&i`<span class="took">${o.took}</span>`}
      </div>
      ${o.ms!==null&&t>0&&i`<div class="track" aria-hidden="true"><div ref=${n(o)}></div></div>`}
      ${o.parts.map(s=>i`<${Qs} ...${s} />`)}
    </li>`)}
  </ol>`}var be=class{diff(t,n,o={}){let s;typeof o=="function"?(s=o,o={}):"callback"in o&&(s=o.callback);let r=this.castInput(t,o),a=this.castInput(n,o),c=this.removeEmpty(this.tokenize(r,o)),u=this.removeEmpty(this.tokenize(a,o));return this.diffWithOptionsObj(c,u,o,s)}diffWithOptionsObj(t,n,o,s){var r;let a=_=>{if(_=this.postProcess(_,o),s){setTimeout(function(){s(_)},0);return}else return _},c=n.length,u=t.length,f=1,d=c+u;o.maxEditLength!=null&&(d=Math.min(d,o.maxEditLength));let m=(r=o.timeout)!==null&&r!==void 0?r:1/0,p=Date.now()+m,l=[{oldPos:-1,lastComponent:void 0}],h=this.extractCommon(l[0],n,t,0,o);if(l[0].oldPos+1>=u&&h+1>=c)return a(this.buildValues(l[0].lastComponent,n,t));let g=-1/0,y=1/0,C=()=>{for(let _=Math.max(g,-f);_<=Math.min(y,f);_+=2){let v,S=l[_-1],P=l[_+1];S&&(l[_-1]=void 0);let O=!1;if(P){let D=P.oldPos-_;O=P&&0<=D&&D<c}let q=S&&S.oldPos+1<u;if(!O&&!q){l[_]=void 0;continue}if(!q||O&&S.oldPos<P.oldPos?v=this.addToPath(P,!0,!1,0,o):v=this.addToPath(S,!1,!0,1,o),h=this.extractCommon(v,n,t,_,o),v.oldPos+1>=u&&h+1>=c)return a(this.buildValues(v.lastComponent,n,t))||!0;l[_]=v,v.oldPos+1>=u&&(y=Math.min(y,_-1)),h+1>=c&&(g=Math.max(g,_+1))}f++};if(s)(function _(){setTimeout(function(){if(f>d||Date.now()>p)return s(void 0);C()||_()},0)})();else for(;f<=d&&Date.now()<=p;){let _=C();if(_)return _}}addToPath(t,n,o,s,r){let a=t.lastComponent;return a&&!r.oneChangePerToken&&a.added===n&&a.removed===o?{oldPos:t.oldPos+s,lastComponent:{count:a.count+1,added:n,removed:o,previousComponent:a.previousComponent}}:{oldPos:t.oldPos+s,lastComponent:{count:1,added:n,removed:o,previousComponent:a}}}extractCommon(t,n,o,s,r){let a=n.length,c=o.length,u=t.oldPos,f=u-s,d=0;for(;f+1<a&&u+1<c&&this.equals(o[u+1],n[f+1],r);)f++,u++,d++,r.oneChangePerToken&&(t.lastComponent={count:1,previousComponent:t.lastComponent,added:!1,removed:!1});return d&&!r.oneChangePerToken&&(t.lastComponent={count:d,previousComponent:t.lastComponent,added:!1,removed:!1}),t.oldPos=u,f}equals(t,n,o){return o.comparator?o.comparator(t,n):t===n||!!o.ignoreCase&&t.toLowerCase()===n.toLowerCase()}removeEmpty(t){let n=[];for(let o=0;o<t.length;o++)t[o]&&n.push(t[o]);return n}castInput(t,n){return t}tokenize(t,n){return Array.from(t)}join(t){return t.join("")}postProcess(t,n){return t}get useLongestToken(){return!1}buildValues(t,n,o){let s=[],r;for(;t;)s.push(t),r=t.previousComponent,delete t.previousComponent,t=r;s.reverse();let a=s.length,c=0,u=0,f=0;for(;c<a;c++){let d=s[c];if(d.removed)d.value=this.join(o.slice(f,f+d.count)),f+=d.count;else{if(!d.added&&this.useLongestToken){let m=n.slice(u,u+d.count);m=m.map(function(p,l){let h=o[f+l];return h.length>p.length?h:p}),d.value=this.join(m)}else d.value=this.join(n.slice(u,u+d.count));u+=d.count,d.added||(f+=d.count)}}return s}};function Ut(e,t){let n;for(n=0;n<e.length&&n<t.length;n++)if(e[n]!=t[n])return e.slice(0,n);return e.slice(0,n)}function Ht(e,t){let n;if(!e||!t||e[e.length-1]!=t[t.length-1])return"";for(n=0;n<e.length&&n<t.length;n++)if(e[e.length-(n+1)]!=t[t.length-(n+1)])return e.slice(-n);return e.slice(-n)}function lt(e,t,n){if(e.slice(0,t.length)!=t)throw Error(`string ${JSON.stringify(e)} doesn't start with prefix ${JSON.stringify(t)}; this is a bug`);return n+e.slice(t.length)}function ct(e,t,n){if(!t)return e+n;if(e.slice(-t.length)!=t)throw Error(`string ${JSON.stringify(e)} doesn't end with suffix ${JSON.stringify(t)}; this is a bug`);return e.slice(0,-t.length)+n}function Ie(e,t){return lt(e,t,"")}function He(e,t){return ct(e,t,"")}function Kt(e,t){return t.slice(0,Xs(e,t))}function Xs(e,t){let n=0;e.length>t.length&&(n=e.length-t.length);let o=t.length;e.length<t.length&&(o=e.length);let s=Array(o),r=0;s[0]=0;for(let a=1;a<o;a++){for(t[a]==t[r]?s[a]=s[r]:s[a]=r;r>0&&t[a]!=t[r];)r=s[r];t[a]==t[r]&&r++}r=0;for(let a=n;a<e.length;a++){for(;r>0&&e[a]!=t[r];)r=s[r];e[a]==t[r]&&r++}return r}function Jt(e,t){let n=[];for(let o of Array.from(t.segment(e))){let s=o.segment;n.length&&/\s/.test(n[n.length-1])&&/\s/.test(s)?n[n.length-1]+=s:n.push(s)}return n}function ut(e,t){if(t)return Ne(e,t)[1];let n;for(n=e.length-1;n>=0&&e[n].match(/\s/);n--);return e.substring(n+1)}function Ce(e,t){if(t)return Ne(e,t)[0];let n=e.match(/^\s*/);return n?n[0]:""}function Ne(e,t){if(!t)return[Ce(e),ut(e)];if(t.resolvedOptions().granularity!="word")throw new Error('The segmenter passed must have a granularity of "word"');let n=Jt(e,t),o=n[0],s=n[n.length-1],r=/\s/.test(o)?o:"",a=/\s/.test(s)?s:"";return[r,a]}var dt="a-zA-Z0-9_\\u{AD}\\u{C0}-\\u{D6}\\u{D8}-\\u{F6}\\u{F8}-\\u{2C6}\\u{2C8}-\\u{2D7}\\u{2DE}-\\u{2FF}\\u{1E00}-\\u{1EFF}",Zs=new RegExp(`[${dt}]+|\\s+|[^${dt}]`,"ug"),Vt=class extends be{equals(t,n,o){return o.ignoreCase&&(t=t.toLowerCase(),n=n.toLowerCase()),t.trim()===n.trim()}tokenize(t,n={}){let o;if(n.intlSegmenter){let a=n.intlSegmenter;if(a.resolvedOptions().granularity!="word")throw new Error('The segmenter passed must have a granularity of "word"');o=Jt(t,a)}else o=t.match(Zs)||[];let s=[],r=null;return o.forEach(a=>{/\s/.test(a)?r==null?s.push(a):s.push(s.pop()+a):r!=null&&/\s/.test(r)?s[s.length-1]==r?s.push(s.pop()+a):s.push(r+a):s.push(a),r=a}),s}join(t){return t.map((n,o)=>o==0?n:n.replace(/^\s+/,"")).join("")}postProcess(t,n){if(!t||n.oneChangePerToken)return t;let o=null,s=null,r=null;return t.forEach(a=>{a.added?s=a:a.removed?r=a:((s||r)&&io(o,r,s,a,n.intlSegmenter),o=a,s=null,r=null)}),(s||r)&&io(o,r,s,null,n.intlSegmenter),t}},lo=new Vt;function Gt(e,t,n){return n?.ignoreWhitespace!=null&&!n.ignoreWhitespace?ft(e,t,n):lo.diff(e,t,n)}function io(e,t,n,o,s){if(t&&n){let[r,a]=Ne(t.value,s),[c,u]=Ne(n.value,s);if(e){let f=Ut(r,c);e.value=ct(e.value,c,f),t.value=Ie(t.value,f),n.value=Ie(n.value,f)}if(o){let f=Ht(a,u);o.value=lt(o.value,u,f),t.value=He(t.value,f),n.value=He(n.value,f)}}else if(n){if(e){let r=Ce(n.value,s);n.value=n.value.substring(r.length)}if(o){let r=Ce(o.value,s);o.value=o.value.substring(r.length)}}else if(e&&o){let r=Ce(o.value,s),[a,c]=Ne(t.value,s),u=Ut(r,a);t.value=Ie(t.value,u);let f=Ht(Ie(r,u),c);t.value=He(t.value,f),o.value=lt(o.value,r,f),e.value=ct(e.value,r,r.slice(0,r.length-f.length))}else if(o){let r=Ce(o.value,s),a=ut(t.value,s),c=Kt(a,r);t.value=He(t.value,c)}else if(e){let r=ut(e.value,s),a=Ce(t.value,s),c=Kt(r,a);t.value=Ie(t.value,c)}}var zt=class extends be{tokenize(t){let n=new RegExp(`(\\r?\\n)|[${dt}]+|[^\\S\\n\\r]+|[^${dt}]`,"ug");return t.match(n)||[]}},co=new zt;function ft(e,t,n){return co.diff(e,t,n)}var Yt=class extends be{constructor(){super(...arguments),this.tokenize=er}equals(t,n,o){return o.ignoreWhitespace?((!o.newlineIsToken||!t.includes(`
`))&&(t=t.trim()),(!o.newlineIsToken||!n.includes(`
`))&&(n=n.trim())):o.ignoreNewlineAtEof&&!o.newlineIsToken&&(t.endsWith(`
`)&&(t=t.slice(0,-1)),n.endsWith(`
`)&&(n=n.slice(0,-1))),super.equals(t,n,o)}},uo=new Yt;function Ke(e,t,n){return uo.diff(e,t,n)}function er(e,t){t.stripTrailingCr&&(e=e.replace(/\r\n/g,`
`));let n=[],o=e.split(/(\n|\r\n)/);o[o.length-1]||o.pop();for(let s=0;s<o.length;s++){let r=o[s];s%2&&!t.newlineIsToken?n[n.length-1]+=r:n.push(r)}return n}var fo=300,tr=.2,Qt=typeof Intl.Segmenter=="function"?new Intl.Segmenter(void 0,{granularity:"word"}):void 0;function nr(e,t){return!e||!t?[{value:e||t,removed:!t,added:!e}]:Gt(e,t,{intlSegmenter:Qt,timeout:fo})??Ke(e,t,{timeout:fo})??null}function or(e,t,n){return e.filter(r=>!r.added&&!r.removed).reduce((r,a)=>r+a.value.trim().length,0)/Math.max(1,Math.min(t.trim().length,n.trim().length))}function sr(e){return Qt?[...Qt.segment(e)].filter(t=>t.isWordLike).length:e.split(/\s+/).filter(Boolean).length}function rr(e,t){if(e===t)return{summary:e?"Both texts are the same.":"Both texts are empty.",parts:[]};let n=nr(e,t);if(n&&!n.some(s=>s.added||s.removed))return{summary:"Only white space differs.",parts:n};if(!n||e&&t&&or(n,e,t)<tr)return{summary:"The texts have little in common.",parts:[{value:e,removed:!0},{value:t,added:!0}],isWhole:!0};let o=s=>n.reduce((r,a)=>r+(a[s]?sr(a.value):0),0);return{summary:`Words removed: ${o("removed")}. Words added: ${o("added")}.`,parts:n}}function ar({part:e,isWhole:t}){if(!e.added&&!e.removed)return e.value;let[n,o]=e.added?["ins","added: "]:["del","removed: "];return i`<${n} class=${t?"whole":""}><span class="hidden">${o}</span>${e.value}<span class="hidden">, end. </span></${n}>`}function Se({a:e,b:t}){let n=J(()=>rr(e,t),[e,t]);return i`
    <div class="word-diff">
      <p class="note" role="status">${n.summary}</p>
      ${n.parts.length>0&&i`
        <div class="diff-text" dir="auto" tabindex="-1">
          ${n.parts.map(o=>i`<${ar} part=${o} isWhole=${n.isWhole} />`)}
        </div>`}
    </div>`}var ir=new Set(["sides","comparison","ranking","items","changes"]),$o=e=>ir.has(e);function Xt({output:e,place:t,view:n}){return i`
    <section class="side" data-answer=${t}>
      <h4><bdi>${R(e.name)}</bdi></h4>
      <${_e} facts=${e.facts} />
      ${e.error&&i`<p class="error">${R(e.error)}</p>`}
      ${e.output&&i`<${Z} text=${e.output} images=${e.images} mono=${e.mono} marks=${e.marks} at=${n.quote} onPick=${n.pick} label=${e.name} />`}
      ${!e.output&&!e.error&&i`<p class="note">The output is empty.</p>`}
    </section>`}function po({label:e,outputs:t,value:n,onPick:o}){return i`<label>${e} <select value=${n} onChange=${s=>o(Number(s.target.value))}>
    ${t.map((s,r)=>i`<option value=${r} selected=${r===n}>${s.name}</option>`)}
  </select></label>`}function lr(e){let t=e.findIndex(n=>n.column!==e[0].column);return[0,t<0?Math.min(1,e.length-1):t]}function cr({outputs:e,viewOf:t,areKeysOn:n}){let[[o,s],r]=k(lr(e)),[a,c]=k(!1),u=A(null),f=()=>r(([p,l])=>[l,p]);if(de({s:f,d:()=>c(p=>!p),n:()=>mo(u.current,1),N:()=>mo(u.current,-1)},n),e.length===0)return i`<p class="note">The output is not known here.</p>`;if(e.length===1)return i`<${Xt} output=${e[0]} place=${0} view=${t(0)} />`;let[d,m]=[e[o],e[s]];return i`
    <div class="pair" ref=${u}>
      <div class="pair-tools">
        ${e.length>2&&i`
          <${po} label="Left" outputs=${e} value=${o} onPick=${p=>r([p,s])} />
          <${po} label="Right" outputs=${e} value=${s} onPick=${p=>r([o,p])} />`}
        <button type="button" aria-pressed=${a} aria-keyshortcuts="d" onClick=${()=>c(!a)}>Word diff</button>
        <button type="button" aria-keyshortcuts="s" onClick=${f}>Swap sides</button>
      </div>
      ${a?i`<h4>From <bdi>${d.name}</bdi> to <bdi>${m.name}</bdi></h4><${Se} a=${d.output} b=${m.output} />`:i`<div class="pair-columns"><${Xt} output=${d} place=${o} view=${t(o)} key=${o} /><${Xt} output=${m} place=${s} view=${t(s)} key=${`right-${s}`} /></div>`}
    </div>`}function mo(e,t){let n=[...e?.querySelectorAll("ins, del")??[]];if(n.length===0)return;let o=n.findIndex(r=>r.classList.contains("current")),s=n[(o+t+n.length)%n.length];n[o]?.classList.remove("current"),s.classList.add("current"),s.tabIndex=-1,s.focus(),s.scrollIntoView({block:"nearest"})}function ur({point:e}){return i`<li><span dir="auto">${e.text}</span>
    ${e.quote&&i` <q dir="auto">${e.quote}</q>`}
    ${e.after&&i`<${Se} a=${e.before} b=${e.after} />`}</li>`}function dr(e){let t=new Map,n=(o,s)=>t.set(o,[...t.get(o)??[],s]);for(let[o,s]of e.entries()){for(let r of s.opinions)for(let a of r.rows){let c=a.tone==="error"?a.tone:r.tone;n(r.title,{row:{...a,who:s.name,tone:c},exchanges:s.exchanges,place:o})}for(let r of s.checks){let a=r.actual===null?[]:[r.actual];n(r.type,{row:{who:s.name,score:r.word,tone:r.tone,facts:a,rationale:r.message,quotes:[]},place:o})}}return[...t].map(([o,s])=>({title:o,result:"",rows:s}))}function ho({index:e,row:t,body:n,areKeysOn:o=!0}){let[s,r]=k({}),[a,c]=k(!1);de({p:()=>c(m=>!m)},o);let u=t.opinions?t.opinions.map(m=>({...m,rows:m.rows.map(p=>({row:p,exchanges:t.exchanges}))})):dr(t.answers),f=m=>t.opinions?void 0:m,d=m=>({quote:s.place===f(m)?s.no:null,pick:p=>{r({place:f(m),no:p});let l=t.opinions?"":`[data-answer="${m}"] `;n.current.querySelector(`${l}mark[data-quotes~="${p}"]`)?.scrollIntoView({block:"nearest"})},isPromptOpen:a,omitted:e.omitted.replies});return i`
    <div class="pair-body">
      ${t.texts.map(m=>i`
        <details open=${m.title==="input"}><summary>${m.title}</summary><${Z} text=${m.text} images=${m.images} mono=${m.mono} label=${m.title} /></details>`)}
      <h3>${t.answers.length>1?"Outputs":"Output"}</h3>
      <${cr} outputs=${t.answers} viewOf=${d} areKeysOn=${o} key=${t.id} />
      ${u.length>0&&i`<h3>Judgments</h3>`}
      ${u.map(m=>i`
        <section class="group">
          <h4><bdi>${R(m.title)}</bdi></h4>
          ${m.result&&i`<p class="result">${R(m.result)}</p>`}
          <div class="pair-columns">${m.rows.map(p=>i`<${it} row=${p.row} exchanges=${p.exchanges} view=${d(p.place)} />`)}</div>
        </section>`)}
      ${(t.points??[]).map(m=>i`
        <h3>${R(m.title)}</h3>
        <ul>${m.points.map(p=>i`<${ur} point=${p} />`)}</ul>`)}
    </div>`}function fr(e,t){let[n,o]=k(null);return N(()=>{let s=!0;return Tn(e,t).then(r=>s&&o({place:t,row:r}),r=>s&&o({place:t,error:r})),()=>{s=!1}},[e,t]),n?.place===t?n:null}function go({index:e,row:t,at:n,onChoose:o,isBeside:s}){if(t.answers.length===1)return null;let a=f=>[e.columns[f.column],f.round].filter(Boolean).join(", "),c=[...t.answers.keys()];return i`<div class="tabs"><div role="tablist" aria-label="Answers" onKeyDown=${f=>{let d={ArrowLeft:-1,ArrowRight:1}[f.key];if(!d)return;f.preventDefault(),f.stopPropagation();let m=(n+d+c.length)%c.length;o(m),f.currentTarget.querySelectorAll("[role=tab]")[m].focus()}}>
    ${t.answers.map((f,d)=>{let{sign:m,tone:p,label:l}=e.states[f.state],h=!s&&d===n;return i`<button type="button" role="tab" id=${`tab-${d}`} aria-controls="answer" aria-selected=${h}
        tabindex=${d===n?0:-1} onClick=${()=>o(d)}>
        <span class=${p} aria-hidden="true">${m}</span> <bdi>${a(f)}</bdi>
        <span class="hidden">, ${l}</span>${f.value&&i`<span class="dim"> ${f.value}</span>`}</button>`})}</div>
    <button type="button" aria-pressed=${s} onClick=${()=>o(n,!s)}>Side by side</button></div>`}function _o({label:e,row:t,index:n,value:o,onChoose:s}){return i`<label class="choice"><span>${e}</span><select value=${o} onChange=${r=>s(Number(r.target.value))}>
    ${t.answers.map((r,a)=>i`<option value=${a} selected=${a===o}>${n.columns[r.column]}${r.round&&`, ${r.round}`}</option>`)}
  </select></label>`}function pr({index:e,row:t,questions:n,a:o,b:s,onChoose:r}){let[a,c]=[t.answers[o],t.answers[s]],u=[...new Set([...a.opinions,...c.opinions].map(l=>l.title))],f=(l,h)=>l.opinions.find(g=>g.title===h),d=(l,h)=>{let g=f(l,h);return g?.result?i`<${fe} tone=${g.tone}>${g.result}<//>`:"–"},m=(l,h)=>f(l,h)?.rows.map(g=>i`<p dir="auto">${R(g.rationale)}</p>`),p=l=>e.states[l.state];return i`<div class="beside">
    <div class="choices">
      <${_o} label="from" row=${t} index=${e} value=${o} onChoose=${l=>r(l,s)} />
      <${_o} label="to" row=${t} index=${e} value=${s} onChoose=${l=>r(o,l)} />
    </div>
    <h3>output</h3>
    <${Se} a=${a.output} b=${c.output} />
    <h3>judgments</h3>
    <div class="wide"><table class="pair"><thead><tr><th scope="col">criterion</th>${[a,c].map(l=>i`<th scope="col"><bdi>${e.columns[l.column]}</bdi> ${l.round}</th>`)}</tr></thead>
      <tbody><tr><th scope="row">verdict</th>${[a,c].map(l=>i`<td><${fe} tone=${p(l).tone}>${p(l).label} ${l.value??""}<//></td>`)}</tr>
      ${u.map(l=>i`<tr><th scope="row" title=${n[l]??null}><bdi>${R(l)}</bdi></th>
        ${[a,c].map(h=>i`<td>${d(h,l)}${m(h,l)}</td>`)}</tr>`)}</tbody></table></div>
  </div>`}var mr=["reference","context"];function $r({index:e,row:t,state:n,change:o,body:s,areKeysOn:r}){let a={...e.questions,...t.questions},c=n.answer??n.variant,u=E=>[e.columns[t.answers[E].column],t.answers[E].round].filter(Boolean).join(", ").replace(new RegExp("\\p{Cs}","gu"),"�"),f=[...t.answers.keys()],d=E=>{let b=f.findIndex(W=>u(W)===E);return b>=0?b:f.findLastIndex(W=>e.columns[t.answers[W].column]===E)},m=Math.max(0,d(c)),p=d(n.with),l=t.answers[m],[h,g]=k(null),[y,C]=k(!1),_=ue("(max-width: 60rem)"),[v,S]=k("texts");N(()=>g(null),[t,m]);let P=J(()=>l?[...l.marks,...l.steps?.marks??[]].map(E=>E.no):[],[l]),O=(E,b,W=()=>{})=>{S(E),requestAnimationFrame(()=>requestAnimationFrame(()=>{let Q=s.current?.querySelector(b);Q?.scrollIntoView({block:"nearest"}),Q&&W(Q)}))},q=E=>(g(E),O("texts",`mark[data-quotes~="${E}"]`)),D=E=>(g(E),O("judgments",`li[data-quote="${E}"]`)),$=(E,b=!1)=>o({answer:u(E),with:b?u((E+1)%f.length):""}),w=E=>()=>f.length>1&&p<0&&$((m+E+f.length)%f.length);de({ArrowLeft:w(-1),ArrowRight:w(1),e:()=>P.length>0&&q(P[(P.indexOf(h)+1)%P.length]),r:()=>O("texts",'[data-text="reference"]',E=>E.querySelector(".passage").focus()),p:()=>{C(!y),O("judgments",".exchange")}},r);let x=e.omitted.replies??"",L={quote:h,isPromptOpen:y,omitted:x},I=E=>t.texts.filter(b=>mr.includes(b.title)===E).map(b=>i`<section data-text=${b.title} class="given"><h3>${b.title}</h3>
      <${Z} text=${b.text} images=${b.images} mono=${b.mono} label=${b.title} /></section>`);return p>=0&&p!==m?i`<${go} index=${e} row=${t} at=${m} onChoose=${$} isBeside />
      <div id="answer"><${pr} index=${e} row=${t} questions=${a} a=${m} b=${p}
        onChoose=${(E,b)=>o({answer:u(E),with:u(E===b?(E+1)%f.length:b)})} />${I(!1)}${I(!0)}</div>`:i`<${go} index=${e} row=${t} at=${m} onChoose=${$} isBeside=${!1} />
    ${l&&i`<div class="verdict"><${fe} tone=${e.states[l.state].tone}>
      ${e.states[l.state].label} ${l.value??""}<//> <${_e} facts=${[l.round,...l.facts].filter(Boolean)} /></div>`}
    ${_&&i`<div class="parts" role="group" aria-label="Show">${[["texts","Output and texts"],["judgments","Judgments"]].map(([E,b])=>i`<button type="button" aria-pressed=${v===E} onClick=${()=>S(E)}>${b}</button>`)}</div>`}
    <div class="columns" id="answer" role=${f.length>1?"tabpanel":null} aria-labelledby=${f.length>1?`tab-${m}`:null}>
      ${(!_||v==="texts")&&i`<div>${I(!1)}${l&&i`<${so} answer=${l} view=${{...L,pick:D}} />`}
        ${I(!0)}${l?.trace.length>0&&i`<h3>trace</h3><${ao} trace=${l.trace} />`}</div>`}
      ${l&&(!_||v==="judgments")&&i`<div><${ro} answer=${l} questions=${a} view=${{...L,pick:q}} /></div>`}
    </div>`}function bo({index:e,place:t,rows:n,state:o,change:s,onClose:r,onMove:a,areKeysOn:c,onHelp:u}){let f=fr(e,t),d=A(null),[m,p]=k(""),l=n.indexOf(t),h=e.ids[t];N(()=>{p(""),d.current&&(d.current.scrollTop=0)},[t]);let g=qt({...o,case:h}),y=async()=>{try{await navigator.clipboard.writeText(g),p("Link copied.")}catch{p(`The browser does not allow copying; the link is ${g}`)}};de({"[":()=>a(-1),"]":()=>a(1),j:()=>a(1),k:()=>a(-1),c:()=>{y()},"?":u},c);let C=$o(e.kind)?ho:$r;return i`<${Ft} label=${`Case ${h}`} className="drawer" onClose=${r}>
    <div class="inside">
      <header>
        <h2><bdi>${h}</bdi></h2>
        <div class="actions">
          <button type="button" onClick=${()=>a(-1)} disabled=${l<=0} aria-label="Previous case" title="Previous case ([)">‹</button>
          <span class="dim">${l>=0?`${(l+1).toLocaleString("en")} of ${n.length.toLocaleString("en")}`:"filtered out"}</span>
          <button type="button" onClick=${()=>a(1)} disabled=${l>=n.length-1} aria-label="Next case" title="Next case (])">›</button>
          <button type="button" onClick=${y} title="Copy a link to this case (c)">Copy link</button>
          <button type="button" onClick=${u} aria-label="Keyboard shortcuts" title="Keyboard shortcuts (?)">?</button>
          <button type="button" onClick=${r} aria-label="Close" title="Close (Esc)">✕</button>
        </div>
        <p role="status" class="notice">${m}</p>
      </header>
      <div class="body" ref=${d} aria-busy=${f===null}>
        ${f?.error&&i`<p class="fail">This case cannot be shown: ${f.error.message}. Reload the page; if that does not help, write it again.</p>`}
        ${f?.row&&i`<${_e} facts=${f.row.facts??[]} />
          <${C} key=${t} index=${e} row=${f.row} state=${o} change=${s} body=${d} areKeysOn=${c} />`}
      </div>
    </div>
  <//>`}var hr=[["?","this list"],["/","search; Enter goes to the first case found"],["j k","next, previous row"],["← →","variant"],["Enter","open the case"],["1 … 5","filters: all, then as listed"],["Esc","close"],["[ ]","in a case: previous, next case"],["e","in a case: next piece of evidence"],["r","in a case: reference"],["p","in a case: prompt and reply of the judge"],["c","in a case: copy a link to it"]];function vo({index:e}){let[t,n]=Hn(),o=Jn(e,t.q),s=Vn(e,t,o.hits),{rows:r}=s,a=J(()=>new Map(e.ids.map((E,b)=>[E,b])),[e]),c=t.case===void 0?void 0:a.get(t.case),[{active:u},f]=k({active:-1}),[d,m]=k(-1),p=A({row:-1,column:-1}),l=E=>{p.current.row=E,f({active:E})},[h,g]=k(!1),[y,C]=to(),_=A(null),v=J(()=>{let E=new Set(e.cells.flatMap(b=>[...new Set(b.state)]));return e.states.filter((b,W)=>E.has(W))},[e]),S=A(-1),P=E=>{if(r.length===0)return;let b=Math.min(r.length-1,Math.max(0,E));S.current=b,l(b)},O=(E,b)=>n({case:e.ids[E],answer:b??e.columns[p.current.column]??"",with:""},{push:!0}),q=()=>{history.state?.pushed?history.back():n({case:"",answer:"",with:""})},D=E=>{let b=r.indexOf(a.get(je().case)),W=r[b<0?0:b+E];W!==void 0&&n({case:e.ids[W],with:""})},$=A(c);N(()=>{$.current!==void 0&&c===void 0&&P(r.indexOf($.current)),$.current=c},[c]),N(()=>l(Math.min(p.current.row,r.length-1)),[r]);let w=E=>()=>n({state:E},{push:!0}),x=E=>()=>{let b=e.columns.length,W=p.current.column;return p.current.column=W<0?E>0?0:b-1:(W+E+b)%b,m(p.current.column),!0},L=c===void 0&&!h;de({"?":()=>g(!0),"/":()=>_.current.focus(),j:()=>P(p.current.row+1),k:()=>P(p.current.row-1),1:w(""),...Object.fromEntries(e.filters.slice(0,8).map((E,b)=>[b+2,w(E.key)]))},L&&y);let I=()=>document.activeElement?.closest?.("tr[data-row]")!==null;return de({ArrowDown:()=>I()&&(P(p.current.row+1),!0),ArrowUp:()=>I()&&(P(p.current.row-1),!0),ArrowLeft:()=>I()&&x(-1)(),ArrowRight:()=>I()&&x(1)(),Enter:()=>document.activeElement?.matches?.("tr[data-row] a")&&(O(r[p.current.row]),!0)},L),i`
    <p class="legend note">${v.map(({label:E,sign:b,tone:W})=>i`<span><span class=${W} aria-hidden="true">${b}</span> ${E}</span>`)}</p>
    <${Yn} index=${e} state=${t} change=${n} selection=${s} search=${o}
      searchBox=${_} onFound=${()=>P(0)} onHelp=${()=>g(!0)} />
    ${t.case!==void 0&&c===void 0&&i`<p class="fail" role="alert">There is no case “${t.case}” on this page.</p>`}
    <${Zn} index=${e} rows=${r} state=${t} change=${n} active=${u} setActive=${l}
      column=${d} openRow=${O} focusing=${S} />
    ${c!==void 0&&i`<${bo} index=${e} place=${c} rows=${r} state=${t} change=${n}
      onClose=${q} onMove=${D} areKeysOn=${y&&!h} onHelp=${()=>g(!0)} />`}
    ${h&&i`<${no} rows=${hr} isOn=${y} setOn=${C} onClose=${()=>g(!1)} />`}
  `}function gr(e){if(e.scrollWidth>e.clientWidth)e.tabIndex=0,e.setAttribute("role","group"),e.setAttribute("aria-label",_r(e));else for(let t of["tabindex","role","aria-label"])e.removeAttribute(t)}function _r(e){for(let t=e;t&&t.id!=="main";t=t.parentElement)for(let n=t.previousElementSibling;n;n=n.previousElementSibling)if(/^H[1-6]$/.test(n.tagName))return n.textContent;return e.querySelector("th, figcaption, svg")?.textContent||document.title}function yo(){let e=new ResizeObserver(t=>t.forEach(n=>gr(n.target)));for(let t of document.querySelectorAll(".wide"))e.observe(t)}var ee=null,Ee=null,Je=0;function br(){return ee||(ee=document.createElement("div"),ee.id="tip",ee.className="tip",ee.setAttribute("role","tooltip"),ee.popover="manual"),ee}function vr(e){let t=e.getBoundingClientRect(),{width:n,height:o}=ee.getBoundingClientRect(),s=Math.min(Math.max(6,t.left),Math.max(6,innerWidth-n-6)),r=t.bottom+6,a=r+o>innerHeight&&t.top>o+6?t.top-o-6:r;ee.style.left=`${s}px`,ee.style.top=`${a}px`}function Zt(e){if(clearTimeout(Je),Ee===e)return;De(),Ee=e;let t=br();t.textContent=e.dataset.tip,(e.closest("dialog[open], main")??document.body).append(t),t.showPopover(),vr(e),e.ariaLabel!==e.dataset.tip&&e.setAttribute("aria-describedby",t.id)}function De(){clearTimeout(Je),Ee&&(Ee.removeAttribute("aria-describedby"),Ee=null,ee.matches(":popover-open")&&ee.hidePopover())}function pt(e){let t=e instanceof Element?e.closest("[data-tip], .term[title], td[title], th[title]"):null;return t?.title&&(t.dataset.tip=t.title,t.removeAttribute("title")),t}function wo(e=document){for(let t of e.querySelectorAll(".term[title]"))pt(t),t.tabIndex=0;for(let t of e.querySelectorAll("[data-tip] > * > title"))t.remove()}document.addEventListener("pointerover",e=>{if(e.pointerType==="touch")return;let t=pt(e.target);t?Zt(t):ee?.contains(e.target)?clearTimeout(Je):Ee&&(clearTimeout(Je),Je=setTimeout(De,200))});document.addEventListener("focusin",e=>{let t=pt(e.target);t&&Zt(t)});document.addEventListener("focusout",De);document.addEventListener("click",e=>{let t=pt(e.target);t?Zt(t):De()});document.addEventListener("keydown",e=>{e.key==="Escape"&&Ee&&(De(),e.stopImmediatePropagation(),e.preventDefault())},!0);document.addEventListener("scroll",De,{capture:!0,passive:!0});function ko(e){for(let t of e.querySelectorAll(".text-change")){let[n,o]=[...t.querySelectorAll("pre")].map(s=>s.textContent);t.replaceChildren(),te(i`<${Se} a=${n} b=${o} />`,t)}}var Te=class extends Error{constructor(t,n,o=null){super(t),this.status=n,this.reply=o}};function en(){return xo()!==void 0}function xo(){return document.querySelector('meta[name="judgekit-token"]')?.content}async function ne(e,t){if(!en())throw new Te("This page can change nothing: it is for reading only.",0);let n;try{n=await fetch(e,{method:"POST",headers:{"content-type":"application/json","x-judgekit-token":xo()},body:JSON.stringify(t)})}catch{throw new Te("judgekit view does not answer. Is it still running?",0)}let o=await n.text(),r=n.headers.get("content-type")?.startsWith("application/json")?JSON.parse(o):null;if(!n.ok)throw new Te(r?.error??o,n.status,r);return r}var mt=20;function Co({path:e,text:t,problems:n,isReadOnly:o,target:s,onInput:r}){let a=A(null),c=A(null),[u,f]=k({top:0,height:600}),d=()=>a.current&&f({top:a.current.scrollTop,height:a.current.clientHeight});Y(()=>{a.current.value!==t&&(a.current.value=t)},[t]),N(()=>{let g=new ResizeObserver(d);return g.observe(a.current),()=>g.disconnect()},[]),Y(()=>{c.current.style.transform=`translateY(${-(u.top%mt)}px)`},[u]),N(()=>{if(!s)return;let g=t.split(`
`),y=g.slice(0,s.line-1).reduce((C,_)=>C+_.length+1,0);a.current.focus(),a.current.setSelectionRange(y,y+(g[s.line-1]??"").length),a.current.scrollTop=Math.max(0,(s.line-4)*mt),a.current.scrollLeft=0,d()},[s]);let m=new Map;for(let g of n){let y=m.get(g.line);m.set(g.line,{severity:y?.severity==="error"?"error":g.severity,words:y?`${y.words}
${g.message}`:g.message})}let p=t.split(`
`).length,l=Math.floor(u.top/mt),h=Math.min(p-l,Math.ceil(u.height/mt)+1);return i`
    <div class="ed-text">
      <div class="ed-gutter" aria-hidden="true">
        <div ref=${c}>
          ${Array.from({length:Math.max(0,h)},(g,y)=>{let C=l+y+1,_=m.get(C),v=_&&(_.severity==="error"?"✗":"!");return i`<div class=${_?`ed-${_.severity}`:""} title=${_?.words}>${v} ${C}</div>`})}
        </div>
      </div>
      <textarea ref=${a} wrap="off" spellcheck=${!1} autocomplete="off" aria-label=${`Text of ${e}`}
        readOnly=${o} onScroll=${d} onInput=${g=>r(g.target.value)} />
    </div>`}var yr=400,So=90,tn=500,wr={assertions:[],scorers:[],variants:[],suites:[],needs:[],examples:[],tags:[],stratum:"",metadata:{},evaluation:{},judge:{},gate:{},settings:{},compare:{},prices:{},columns:{},panel:{}};function kr(e,t){let[n,o]=k(e),s=A({draft:e,value:e,timer:0});s.current.commit=t,N(()=>{s.current.draft===s.current.value&&o(s.current.draft=e),s.current.value=e},[e]);let r=()=>{clearTimeout(s.current.timer),s.current.draft!==s.current.value&&(s.current.value=s.current.draft,s.current.commit(s.current.draft))};return N(()=>r,[]),[n,c=>{o(s.current.draft=c),clearTimeout(s.current.timer),s.current.timer=setTimeout(r,yr)},r]}function To(e,t){let[n,o]=k(e);return N(()=>o(e),[e]),[n,async r=>{o(r),await t(r)||o(e)}]}function pe({label:e,value:t,onCommit:n,lines:o=1,hint:s="",problem:r="",type:a="text"}){let c=ge(),[u,f,d]=kr(t,n),m=A(null),p=Math.min(16,Math.max(o,u.split(`
`).length)),l=r||s?`${c}-about`:null,h={id:c,value:u,"aria-describedby":l,"aria-invalid":r?"true":null,onInput:g=>f(g.target.value),onBlur:d};return i`
    <div class="ed-field">
      <label for=${c}>${e}</label>
      ${o===1?i`<input type=${a} ref=${m} ...${h} />`:i`<textarea rows=${p} ...${h} />`}
      ${l&&i`<p id=${l} class=${r?"fail":"note"}>${r||s}</p>`}
    </div>`}function Po(e){return typeof e=="number"?!Number.isInteger(e)||Number.isSafeInteger(e):e===null||typeof e!="object"||Object.values(e).every(Po)}function xr({label:e,value:t,onCommit:n,hint:o}){let[s,r]=k("");if(!Po(t))return i`<p class="note"><strong><bdi>${e}</bdi></strong> holds a number with more digits than this form keeps: change it in “Text”.</p>`;let a=JSON.stringify(t,null,2),c=u=>{let f;try{f=JSON.parse(u)}catch(d){r(`Not in the file yet, for it is not JSON: ${d.message}`);return}r(""),n(f)};return i`<${pe} label=${`${e} (JSON)`} value=${a} lines=${2} problem=${s} hint=${o} onCommit=${c} />`}function Pe({label:e,value:t,lines:n,onCommit:o,onRemove:s,hint:r}){return t!=null&&typeof t!="string"?i`<${xr} label=${e} value=${t} onCommit=${o} hint=${r} />`:i`<${pe} label=${e} value=${t??""} lines=${n} onCommit=${c=>c===""&&s?s():o(c)} hint=${r} />`}function $t({label:e,value:t,onCommit:n,onRemove:o,hint:s}){let[r,a]=k(""),c=u=>{let f=u.trim(),d=f!==""&&Number.isFinite(Number(f));a(d||f===""&&o?"":"Not in the file yet: a number is needed."),d?n(Number(f)):f===""&&o&&o()};return i`<${pe} label=${e} value=${t==null?"":String(t)}
    problem=${r} hint=${s} onCommit=${c} />`}function nn({data:e,known:t,where:n,change:o,noun:s}){let[r,a]=k(""),c=ge(),u=Object.keys(e).filter(m=>!t.includes(m)),f=r.trim(),d=async()=>{f&&!(f in e)&&await o("set",[...n,f],wr[f]??"")&&a("")};return i`
    ${u.map(m=>i`
      <div class="ed-other" key=${m}>
        <${Pe} label=${m} value=${e[m]??void 0} lines=${1}
          onCommit=${p=>o("set",[...n,m],p)} />
        <button onClick=${()=>o("remove",[...n,m])} aria-label=${`Remove ${m}`} title="Remove">×</button>
      </div>`)}
    <div class="ed-add">
      <label for=${c}>Further field of the ${s}</label>
      <input id=${c} value=${r} onInput=${m=>a(m.target.value)}
        onKeyDown=${m=>m.key==="Enter"&&d()} />
      <button onClick=${d} disabled=${!f||f in e}>Add field</button>
    </div>`}function Oo({noun:e,n:t,place:n,where:o,change:s,onPlace:r,blank:a,copyName:c,isReadOnly:u}){let f=async(m,p,l,h)=>{await s(m,[...o,p],l)&&r(h)},d=async()=>{if(!await s("copy",[...o,n]))return;let[m,p]=c(n);await s("set",[...o,n+1,m],p),r(n+1)};return u?null:i`
    <fieldset class="ed-tools" aria-label=${`Change the list of ${e==="criterion"?"criteria":"cases"}`}>
      <button onClick=${()=>f("insert",t?n:-1,a(),t?n+1:0)}>Add</button>
      <button disabled=${!t} onClick=${d}>Duplicate</button>
      <button disabled=${n<1} onClick=${()=>f("move",n,-1,n-1)} aria-label="Move up">↑</button>
      <button disabled=${n>=t-1} onClick=${()=>f("move",n,1,n+1)} aria-label="Move down">↓</button>
      <button disabled=${!t} onClick=${()=>f("remove",n,null,Math.max(0,Math.min(n,t-2)))}>Delete</button>
    </fieldset>`}function Lo({label:e,items:t,place:n,onPlace:o}){let s=A(null);return i`
    <ul class="ed-items" ref=${s} aria-label=${e} onKeyDown=${a=>{let c={ArrowDown:1,ArrowUp:-1}[a.key];if(!c)return;a.preventDefault();let u=[...s.current.querySelectorAll("button")],f=u[u.indexOf(document.activeElement)+c];f?.focus(),f?.click()}}>
      ${t.map(a=>i`
        <li key=${a.place}>
          <button aria-current=${a.place===n?"true":null} onClick=${()=>o(a.place)}>
            <strong><bdi>${a.name}</bdi></strong>
            ${a.tags?.map(c=>i`<span class="ed-tag"><bdi>${c}</bdi></span>`)}
            <span class="note" dir="auto">${a.words}</span>
          </button>
        </li>`)}
    </ul>`}function Mo(e){let t=typeof e=="string"?e:JSON.stringify(e)??"";return t.length>So?`${t.slice(0,So)}…`:t}function ht(e,t){for(let n=2;;n++)if(!t.includes(`${e}-${n}`))return`${e}-${n}`}function Eo(e){return Array.isArray(e)?e.filter(t=>typeof t=="string"):[]}function Ao({file:e,caseId:t,onCase:n,change:o,isReadOnly:s}){let[r,a]=k(""),[c,u]=k(null),f=ge(),d=e.cases_at,m=(d.length?e.data[d[0]]:e.data).map($=>$&&typeof $=="object"&&!Array.isArray($)?$:{}),p=($,w)=>Object.keys(e.aliases).find(x=>e.aliases[x]===w&&x in $&&!(w in $))??w,l=m.map($=>String($[p($,"id")]??"")),h=t===null?0:Math.max(0,l.indexOf(t)),g=Math.min(c&&l[c.place]===(c.id??l[c.place])?c.place:h,Math.max(0,m.length-1)),y=$=>{u({place:$}),n(l[$]??null)},C=$=>$[p($,"input")],_=r.trim().toLowerCase(),v=m.map(($,w)=>({place:w,name:l[w]||"(no id)",words:Mo(C($)),tags:Eo($.tags)})).filter($=>!_||`${$.name} ${$.words} ${$.tags.join(" ")}`.toLowerCase().includes(_)),S=m[g],P=[...d,g],O=$=>w=>o("set",[...P,$],w),q=$=>$ in S?()=>o("remove",[...P,$]):null,D=["tags",...["id","input","reference","context"].map($=>S?p(S,$):$)];return i`
    <div class="ed-list">
      <div class="ed-field">
        <label for=${f}>Find a case</label>
        <input id=${f} type="search" value=${r} onInput=${$=>a($.target.value)} />
      </div>
      <p class="note" role="status">${v.length===m.length?`${m.length} cases`:`${v.length} of ${m.length} cases`}${v.length>tn?`, the first ${tn} are listed`:""}</p>
      <${Oo} noun="case" n=${m.length} place=${g} where=${d} change=${o} isReadOnly=${s} onPlace=${$=>u({place:$})}
        blank=${()=>({id:ht("case",l),input:""})} copyName=${$=>["id",ht(l[$],l)]} />
      <${Lo} label="Cases" items=${v.slice(0,tn)} place=${g} onPlace=${y} />
    </div>
    ${S&&i`
      <fieldset class="ed-fields" disabled=${s} aria-label=${`Case ${l[g]}`} key=${`${g} of ${m.length}`}>
        <p class="note">Line ${e.lines[g]}</p>
        <${pe} label="id" value=${l[g]} hint="Names results and stored judgments."
          onCommit=${async $=>{await o("set",[...P,p(S,"id")],$)&&(u({place:g}),n($))}} />
        <${Pe} label=${p(S,"input")} value=${C(S)} lines=${5} onCommit=${O(p(S,"input"))} />
        ${["reference","context"].map($=>i`
          <${Pe} key=${$} label=${p(S,$)} value=${S[p(S,$)]} lines=${3}
            onCommit=${O(p(S,$))} onRemove=${q(p(S,$))} />`)}
        <${pe} label="tags" value=${Eo(S.tags).join(", ")} hint="Separated by commas."
          onCommit=${$=>O("tags")($.split(",").map(w=>w.trim()).filter(Boolean))} />
        <${nn} data=${S} known=${D} where=${P} change=${o} noun="case" />
      </fieldset>`}`}var Cr=["name","question","scoring_guide","scale","weight","required","pass_value"];function jo({data:e,change:t,isReadOnly:n}){let[o,s]=k(0),r=e.criteria.map(l=>l&&typeof l=="object"?l:{}),a=Math.min(o,Math.max(0,r.length-1)),c=r.map(l=>String(l.name??"")),u=r[a],f=["criteria",a],d=l=>h=>t("set",[...f,l],h),m=l=>l in u?()=>t("remove",[...f,l]):null,p=l=>h=>t("set",[l],h);return i`
    <div class="ed-list">
      <fieldset disabled=${n} aria-label="Rubric">
      <${pe} label="Name of the rubric" value=${String(e.name??"")} onCommit=${p("name")} />
      <${$t} label="pass_threshold" value=${e.pass_threshold} hint="The least overall value that passes, 0 to 1."
        onCommit=${p("pass_threshold")} onRemove=${"pass_threshold"in e?()=>t("remove",["pass_threshold"]):null} />
      </fieldset>
      <${Oo} noun="criterion" n=${r.length} place=${a} where=${["criteria"]} change=${t} isReadOnly=${n} onPlace=${s}
        blank=${()=>({name:ht("criterion",c),question:""})} copyName=${l=>["name",ht(c[l],c)]} />
      <${Lo} label="Criteria" items=${r.map((l,h)=>({place:h,name:c[h]||"(no name)",words:Mo(l.question??"")}))}
        place=${a} onPlace=${s} />
    </div>
    ${u&&i`
      <fieldset class="ed-fields" disabled=${n} aria-label=${`Criterion ${c[a]}`} key=${`${a} of ${r.length}`}>
        <${pe} label="name" value=${c[a]} onCommit=${d("name")} />
        <${Pe} label="question" value=${u.question} lines=${3} onCommit=${d("question")} />
        <${Er} scale=${u.scale} where=${[...f,"scale"]} change=${t} />
        <${Pe} label="scoring_guide" value=${u.scoring_guide} lines=${3} onCommit=${d("scoring_guide")} onRemove=${m("scoring_guide")} />
        <div class="ed-row">
          <${$t} label="weight" value=${u.weight} hint="Its share in the overall value; 1 if missing." onCommit=${d("weight")} onRemove=${m("weight")} />
          <${$t} label="pass_value" value=${u.pass_value} hint="The least value that passes, 0 to 1." onCommit=${d("pass_value")} onRemove=${m("pass_value")} />
          <${Sr} label="required" value=${u.required===!0} onCommit=${d("required")} />
        </div>
        <${nn} data=${u} known=${Cr} where=${f} change=${t} noun="criterion" />
      </fieldset>`}`}function Sr({label:e,value:t,onCommit:n}){let[o,s]=To(t,n);return i`<label class="ed-check"><input type="checkbox" checked=${o}
    onChange=${r=>s(r.target.checked)} /> ${e}</label>`}function Er({scale:e,where:t,change:n}){return Array.isArray(e)&&e.every(s=>s&&typeof s=="object"&&"value"in s)?i`
    <fieldset class="ed-levels">
      <legend>scale</legend>
      ${e.map((s,r)=>i`
        <div class="ed-level" key=${`${r} of ${e.length}`}>
          <${$t} label=${`Value ${r+1}`} value=${s.value} onCommit=${a=>n("set",[...t,r,"value"],a)} />
          <${pe} label="Anchor" value=${String(s.description??"")} lines=${2} onCommit=${a=>n("set",[...t,r,"description"],a)} />
          <button aria-label=${`Remove level ${s.value}`} title="Remove" disabled=${e.length<3} onClick=${()=>n("remove",[...t,r])}>×</button>
        </div>`)}
      <button onClick=${()=>n("insert",[...t,e.length-1],{value:Tr(e),description:""})}>Add level</button>
    </fieldset>`:i`<${Pe} label="scale" value=${e} lines=${1} onCommit=${s=>n("set",t,s)}
      hint='The name of a scale, such as likert5; or JSON: a list of levels, each with a value and a description.' />`}function Tr(e){let t=e.map(o=>Number(o.value)).filter(Number.isFinite),n=t.at(-1)??0;return t.length>1&&t[0]>n?n-1:n+1}var Pr=["name","dataset","rubric","profile","cases"];function Io({data:e,profiles:t,change:n,isReadOnly:o}){let s=u=>f=>n("set",[u],f),r=u=>u in e?()=>n("remove",[u]):null,[a,c]=To(e.profile??"",u=>u?n("set",["profile"],u):n("remove",["profile"]));return i`
    <fieldset class="ed-fields" disabled=${o} aria-label="Suite">
      <${pe} label="name" value=${String(e.name??"")} onCommit=${s("name")} />
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
      <${nn} data=${e} known=${Pr} where=${[]} change=${n} noun="suite" />
    </fieldset>`}var Or=600,gt="\0typed",No=new Set(["suite","rubric","cases","template","partial","outputs"]);function Do({path:e,file:t,listing:n,caseId:o,onCase:s,isReadOnly:r}){let a=n.files.filter(w=>w.kind==="suite").map(w=>w.path),[c,u]=k(a.includes(e)?e:a[0]),[f,d]=k(null),[m,p]=k(""),[l,h]=k(""),[g,y]=k(null),[C,_]=k(""),v=A(0),S=f===gt,P={case_id:o,variant:S?null:f,output:S?m:null,model:l.trim()||null},O={path:e,text:t.text,suite:c,settings:P},q=JSON.stringify(O),D=async w=>{try{let x=await ne("/api/edit/preview",O);if(w!==v.current)return;x.error||y({...x,key:q}),_(x.error??"")}catch(x){if(w!==v.current)return;_(x.message)}};if(N(()=>{let w=++v.current;if(!c||!No.has(t.kind))return;let x=setTimeout(()=>D(w),g||C?Or:0);return()=>clearTimeout(x)},[q,t.kind]),!No.has(t.kind))return null;if(!c)return i`<aside class="ed-preview" aria-label="Preview"><h2>Preview</h2>
      <p class="note">Prompts are shown with a suite, which names the judge: there is none in this folder. <code>judgekit init</code> makes one.</p></aside>`;let $=g?.key===q;return i`
    <aside class="ed-preview" aria-label="Preview" aria-busy=${!$&&!C}>
      <h2>What the judge reads</h2>
      <div class="ed-choices">
        ${a.length>1&&i`<${on} label="Suite" value=${c} options=${a} onChoose=${u} />`}
        ${g&&i`
          <${on} label="Case" value=${g.case_id} options=${g.cases} onChoose=${s} />
          <${on} label="Output" value=${f??g.variant??gt} onChoose=${d}
            options=${[...g.variants,gt]} names=${{[gt]:"typed here"}} />
          <${Lr} judges=${g.judges} model=${l} onModel=${h} />`}
      </div>
      ${S&&i`<${Mr} text=${m} onText=${p} />`}
      ${C&&i`<p class="ed-narrow">No preview: <bdi>${C}</bdi></p>`}
      ${g&&!C&&i`
        ${g.notes.map(w=>i`<p class="note">${w}</p>`)}
        <${jr} body=${O} preview=${g} isCurrent=${$&&!C} isReadOnly=${r} />
        ${!S&&g.variant&&i`<details><summary>Output of ${g.variant}</summary><pre dir="auto">${g.output}</pre></details>`}
        ${g.requests.map((w,x)=>i`<${Ar} key=${x} request=${w} isOpen=${x===0} />`)}`}
    </aside>`}function on({label:e,value:t,options:n,names:o={},onChoose:s}){let r=ge();return i`<div class="ed-field">
    <label for=${r}>${e}</label>
    <select id=${r} value=${t} onChange=${a=>s(a.target.value)}>
      ${n.map(a=>i`<option key=${a} value=${a} selected=${a===t}>${o[a]??a}</option>`)}
    </select></div>`}function Lr({judges:e,model:t,onModel:n}){let o=ge();return i`<div class="ed-field">
    <label for=${o}>Model</label>
    <input id=${o} value=${t} placeholder=${e.join(", ")||"none"} onChange=${s=>n(s.target.value)} />
  </div>`}function Mr({text:e,onText:t}){let n=ge();return i`<div class="ed-field">
    <label for=${n}>Output to judge</label>
    <textarea id=${n} rows="4" value=${e} onInput=${o=>t(o.target.value)} />
  </div>`}function Ar({request:e,isOpen:t}){let n=e.repeat?`, repeat ${e.repeat+1}`:"";return i`
    <details open=${t}>
      <summary><strong>${e.criterion??"all criteria"}</strong>${n}: ${e.tokens}, ${e.price}</summary>
      <p class="note">${e.judge}; tokens counted by ${e.token_source}</p>
      ${e.messages.map(o=>i`
        <h3>${o.role}</h3>
        <pre class="ed-prompt" dir="auto">${o.content}</pre>`)}
    </details>`}function jr({body:e,preview:t,isCurrent:n,isReadOnly:o}){let[s,r]=k("ready"),[a,c]=k(null),[u,f]=k("");N(()=>{r("ready"),c(null),f("")},[t.calls_key]);let d=async()=>{r("running"),f("");try{let l=await ne("/api/edit/preview",{...e,calls_key:t.calls_key});l.error?f(l.error):c(l)}catch(l){f(l.message)}r("ready")},m=A(null);N(()=>{s==="confirm"&&m.current.focus()},[s]);let p=t.n_calls===0||t.price.includes("not recorded");return o?i`<p><strong>${t.price}</strong></p>`:i`
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
      <div role="status">${u&&i`<p class="error">${u}</p>`}${a&&i`<${Ir} result=${a} />`}</div>
    </div>`}function Ir({result:e}){return i`
    <p class=${`conclusion ${e.tone}`}>${e.conclusion}</p>
    ${e.notes.map(t=>i`<p class="error">${t}</p>`)}
    ${e.judgments.map(t=>i`
      <section class="ed-judgment">
        <h3>${t.criterion}: ${t.raw} <span class="note">value ${rt(t.value)}, ${t.cached?"cached":t.cost_usd===null?"price unknown":`$${t.cost_usd?t.cost_usd.toPrecision(2):0}`}${t.confidence===null?"":`, confidence ${t.confidence}`}</span></h3>
        <p class="note">${t.judge}</p>
        <p dir="auto">${t.rationale}</p>
        ${t.evidence.map(n=>i`<blockquote dir="auto">${n.quote}${!n.match&&i` <span class="fail">! not in the output</span>`}</blockquote>`)}
      </section>`)}`}var Ro=3,Nr=40,Wo=300;function qo({dialog:e,path:t,file:n,onSave:o,onSettle:s,onClose:r}){let a=A(null);N(()=>{a.current.showModal()},[]);let c=n.problems.filter(d=>d.severity==="error"&&d.path===t).length,u=e.kind==="conflict",f=u?e.disk.text:n.saved;return i`
    <dialog class="ed-dialog" ref=${a} onClose=${r} aria-labelledby="ed-dialog-title">
      <h2 id="ed-dialog-title">${u?"Changed on disk":`Changes to ${t}`}</h2>
      ${e.message&&i`<p class="error" role="alert">${e.message}</p>`}
      ${u?i`<p>Below: what is on disk now (−), and what you have here (+).</p>`:c>0&&i`<p class="fail">✗ With ${c} ${c===1?"error":"errors"} it cannot be used until ${c===1?"it is":"they are"} corrected.</p>`}
      <${Dr} before=${f} after=${n.text} />
      <div class="ed-buttons">
        ${u?i`
              <button onClick=${()=>s(e.disk,!0)}>Keep mine, and look at the changes again</button>
              <button onClick=${()=>s(e.disk,!1)}>Discard mine, take the file on disk</button>`:i`<button class="ed-save" autofocus onClick=${o}>${c?`Save with ${c} ${c===1?"error":"errors"}`:"Save"} <kbd>Ctrl+S</kbd></button>`}
        <button onClick=${()=>a.current.close()}>Cancel</button>
      </div>
    </dialog>`}function Dr({before:e,after:t}){let n=Ke(e,t,{timeout:Wo});if(!n)return i`<p class="note">The texts have too little in common to be compared line by line.</p>`;let o=[];return n.forEach((s,r)=>{let a=s.value.replace(/\n$/,"").split(`
`);if(!s.added&&!s.removed){o.push(...Rr(a,r===0,r===n.length-1));return}let c=s.removed?n[r+1]:n[r-1],f=c&&(s.removed?c.added:c.removed)&&c.count===s.count&&s.count<=Nr?c.value.replace(/\n$/,"").split(`
`):[];a.forEach((d,m)=>o.push({sign:s.removed?"−":"+",line:d,other:f[m]}))}),i`
    <div class="ed-diff" tabindex="0" role="region" aria-label="Changed lines">
      ${o.map(s=>{if(s.folded)return i`<div class="ed-fold">${s.folded} unchanged lines</div>`;if(!s.sign)return i`<div><span>  </span>${s.line}</div>`;let r=s.sign==="+"?"ins":"del";return i`<${r} class="ed-line"><span class="hidden">${s.sign==="+"?"added: ":"removed: "}</span><span aria-hidden="true">${s.sign} </span><${Wr} row=${s} /></${r}>`})}
    </div>`}function Rr(e,t,n){let o=t?0:Ro,s=n?0:Ro;return e.length<=o+s+1?e.map(r=>({line:r})):[...e.slice(0,o).map(r=>({line:r})),{folded:e.length-o-s},...s?e.slice(-s).map(r=>({line:r})):[]]}function Wr({row:e}){let t=e.sign==="+",n=e.other===void 0?null:ft(t?e.other:e.line,t?e.line:e.other,{timeout:Wo});return n?n.filter(o=>t?!o.removed:!o.added).map(o=>o.added||o.removed?i`<mark>${o.value}</mark>`:o.value):e.line}var qr=300,Fr="/edit",Uo="(max-width: 44rem)",Br=/^\/edit\/(.+)$/;function Ho(){let e=Br.exec(location.pathname),t=document.getElementById("main");if(!e||!en()||!t)return;let n=document.createElement("div"),o=e[1].split("/").map(decodeURIComponent).join("/");for(;t.querySelector("h1").nextSibling;)t.querySelector("h1").nextSibling.remove();t.append(n),document.querySelector(".skip").textContent="Skip to the editor",te(i`<${Ur} path=${o} />`,n)}function _t(){return new URLSearchParams(location.hash.slice(1))}function Fo(e){let t=_t();for(let[n,o]of Object.entries(e))o===null?t.delete(n):t.set(n,o);history.replaceState(null,"",`#${t}`)}function Ur({path:e}){let[t,n]=k(null),[o,s]=k(""),r=()=>ne("/api/edit/files",{}).then(n,u=>s(u.message));N(()=>{r()},[]);let a=ue(Uo);if(o)return i`<p class="error" role="alert">${o}</p>`;let c=i`<${Kr} listing=${t} path=${e} />`;return i`
    <div class="editor">
      <nav class="ed-files" aria-label="Files" aria-busy=${!t}>
        ${a?i`<details><summary>Files of ${t?.folder}</summary>${c}</details>`:c}
      </nav>
      <div class="ed-work"><${Vr} path=${e} listing=${t} onSaved=${r} /></div>
    </div>`}function Hr({files:e}){let t=e.find(n=>n.command);return t&&i`<p class="note">To run it: <code>${t.command}</code></p>`}function Kr({listing:e,path:t}){return e?i`
    <p class="ed-folder"><a href=${Fr}>${e.folder}</a></p>
    <ul>
      ${e.files.map(n=>i`
        <li key=${n.path}>
          <a href=${Ko(n.path)} aria-current=${n.path===t?"page":null}><bdi>${n.path}</bdi></a>
          <span class="note">${n.kind} <${Jr} file=${n} /></span>
        </li>`)}
    </ul>
    <${Hr} files=${e.files} />`:i`<p class="note">Reading the folder …</p>`}function Jr({file:e}){let t=[];return e.n_errors&&t.push(i`<span class="fail">✗ ${Bo(e.n_errors,"error")}</span>`),e.n_warnings&&t.push(i`<span class="inconclusive">! ${Bo(e.n_warnings,"warning")}</span>`),t}function Bo(e,t){return`${e} ${t}${e===1?"":"s"}`}function Ko(e){return`/edit/${e.split("/").map(encodeURIComponent).join("/")}`}function Vr({path:e,listing:t,onSaved:n}){let[o,s]=k(null),r=A(null),[a,c]=k(""),[u,f]=k(_t().get("view")),[d,m]=k(_t().get("case")),[p,l]=k(null),[h,g]=k(""),[y,C]=k(null),_=A({timer:0,number:0}),v=A(Promise.resolve()),S=A(null),P=ue(Uo),O=M=>s(r.current={...r.current,...M}),q=async()=>{try{let M=await ne("/api/edit/open",{path:e});O({...M,saved:M.text});let U=Number(_t().get("line"));U&&E(U)}catch(M){c(M.message)}};N(()=>{q()},[e]);let D=!!(o&&o.text!==o.saved);N(()=>{if(document.title=`${D?"* ":""}Edit ${e}`,!D)return;let M=U=>U.preventDefault();return addEventListener("beforeunload",M),()=>removeEventListener("beforeunload",M)},[D]);let $=async()=>{let M=++_.current.number,{text:U}=r.current;try{let ae=await ne("/api/edit/check",{path:e,text:U});M===_.current.number&&U===r.current.text&&O(ae),c("")}catch(ae){c(ae.message)}},w=M=>{g(""),O({text:M}),clearTimeout(_.current.timer),_.current.timer=setTimeout($,qr)},x=(M,U,ae=null)=>{let ve=v.current.then(async()=>{let z,T;do z=r.current.text,T=await ne("/api/edit/change",{path:e,text:z,kind:M,where:U,value:ae});while(z!==r.current.text);_.current.number++,O(T),c(""),g("")});return v.current=ve.catch(z=>c(z.message)),ve.then(()=>!0,()=>!1)},L=M=>{f(M),Fo({view:M})},I=M=>{m(M),Fo({case:M})},E=M=>{L("text"),C({line:M})},b=!!o&&!o.is_recorded&&!P,W=async()=>{b&&(S.current=document.activeElement,S.current?.blur(),clearTimeout(_.current.timer),await v.current,await $(),r.current.text===r.current.saved?g("There are no changes to save."):l({kind:"save"}))},Q=()=>{l(null),S.current?.focus()},se=async()=>{let{text:M,version:U,problems:ae}=r.current,ve=ae.some(z=>z.severity==="error");try{let z=await ne("/api/edit/save",{path:e,text:M,version:U,allow_errors:ve});O({saved:M,version:z.version}),Q(),g("Saved."),n()}catch(z){z instanceof Te&&z.status===409?l({kind:"conflict",disk:z.reply,message:z.message}):l({kind:"save",message:z.message})}},Ae=(M,U)=>{O({saved:M.text,version:M.version}),Q(),U||O({text:M.text}),$()};if(N(()=>{let M=U=>{!(U.ctrlKey||U.metaKey)||U.key.toLowerCase()!=="s"||(U.preventDefault(),p?.kind==="save"?se():p||W())};return addEventListener("keydown",M),()=>removeEventListener("keydown",M)}),!o)return a?i`<p class="error" role="alert">${a}</p>`:i`<p class="note" aria-busy="true">Opening …</p>`;let ce=o.is_recorded||P,re=zr(o),me=re.some(M=>M.name===u)?u:re[0].name,Ge=o.problems.filter(M=>M.path===e);return i`
    <div class="ed-bar">
      <div role="group" aria-label="View" class="ed-views">
        ${re.map(M=>i`<button aria-pressed=${String(M.name===me)} onClick=${()=>L(M.name)}>${M.label}</button>`)}
      </div>
      <span class="ed-state" role="status">${h||(D?"Not saved":"")}</span>
      ${b&&i`<button class="ed-save" disabled=${!D} onClick=${W}>Save … <kbd>Ctrl+S</kbd></button>`}
    </div>
    ${P&&i`<p class="ed-narrow">This window is too narrow for editing: files can be read here, and edited in a wider one.</p>`}
    ${o.is_recorded&&i`<p class="ed-narrow">This file holds recorded ${o.kind==="recorded replies"?"replies":"results"}: it can be read, but not edited.</p>`}
    ${a&&i`<p class="error" role="alert">${a}</p>`}
    <${Yr} file=${o} path=${e} onJump=${E} />
    <div class="ed-panes">
      <div class="ed-pane">
        ${me==="text"?i`<${Co} path=${e} text=${o.text} problems=${Ge} isReadOnly=${ce} target=${y} onInput=${w} />`:i`<div class="ed-form">
              ${me==="cases"&&i`<${Ao} file=${o} caseId=${d} onCase=${I} change=${x} isReadOnly=${ce} />`}
              ${me==="rubric"&&i`<${jo} data=${o.data} change=${x} isReadOnly=${ce} />`}
              ${me==="suite"&&i`<${Io} data=${o.data} profiles=${o.profiles} change=${x} isReadOnly=${ce} />`}
            </div>`}
      </div>
      ${t&&i`<${Do} path=${e} file=${o} listing=${t} caseId=${d} onCase=${I} isReadOnly=${P} />`}
    </div>
    ${p&&i`<${qo} dialog=${p} path=${e} file=${o}
      onSave=${se} onSettle=${Ae} onClose=${Q} />`}
  `}function zr(e){let t=[];return e.form==="rubric"&&Array.isArray(e.data?.criteria)&&t.push({name:"rubric",label:"Criteria"}),e.form==="suite"&&t.push({name:"suite",label:"Suite"}),e.cases_at&&t.push({name:"cases",label:"Cases"}),[...t,{name:"text",label:"Text"}]}var Gr={error:"✗",warning:"!"};function Yr({file:e,path:t,onJump:n}){let o=A(null);Y(()=>{o.current.textContent!==e.summary&&(o.current.textContent=e.summary)},[e.summary]);let s=e.problems.some(r=>r.severity==="error")?"fail":e.problems.length?"inconclusive":"pass";return i`
    <section class=${`ed-problems ${s}`} aria-label="Problems">
      <p><span>${e.kind}: </span><strong role="status" ref=${o}></strong></p>
      ${e.problems.length>0&&i`
        <ul>
          ${e.problems.map(r=>i`
            <li>
              <span class=${r.severity==="error"?"fail":"inconclusive"}>${Gr[r.severity]} ${r.severity}</span>${" "}
              <${Qr} problem=${r} path=${t} onJump=${n} />${" "}
              <bdi>${r.message}</bdi>${r.remedy&&i` <span class="note">(${r.remedy})</span>`}
              ${r.rule&&i` <code>${r.rule}</code>`}
            </li>`)}
        </ul>`}
    </section>`}function Qr({problem:e,path:t,onJump:n}){let o=e.line===null?"":`line ${e.line}`;if(e.path===t)return o&&i`<button class="ed-link" onClick=${()=>n(e.line)}>${o}</button>`;if(!e.path)return null;let s=e.line===null?"":`#view=text&line=${e.line}`;return i`<a href=${Ko(e.path)+s}><bdi>${e.path}</bdi> ${o}</a>`}var bt=2;function Xr([e,t]){return`/diff?a=${encodeURIComponent(e)}&b=${encodeURIComponent(t)}`}function Zr({boxes:e}){let[t,n]=k([]);for(let s of e)s.checked=t.includes(s.value),s.onchange=()=>{let r=t.filter(a=>a!==s.value);n(s.checked?[...r.slice(1-bt),s.value]:r)};let o=bt-t.length;return i`
    <div class="chosen">
      ${o===0?i`<a class="button" href=${Xr(t)}>Side by side</a>`:i`<button type="button" disabled>Side by side</button>`}
      ${t.length>0&&i`
        <button type="button" onClick=${()=>n([])}>Clear</button>`}
      <span role="status">${o===bt?"Tick two rows to see them side by side.":o?`${t[0]}; tick one more row.`:`${t[0]} and ${t[1]}`}</span>
    </div>
  `}function Jo(){let e=[...document.querySelectorAll("[data-choice]")];if(e.length<bt)return;let t=e.map(o=>{let s=document.createElement("input");s.type="checkbox",s.value=o.dataset.choice,s.setAttribute("aria-label",`Side by side: ${o.dataset.choice}`);let r=document.createElement("label");return r.className="tick",r.append(s),o.prepend(r),s}),n=document.createElement("div");e[0].closest(".wide").before(n),te(i`<${Zr} boxes=${t} />`,n)}function ea({address:e,lines:t}){let[n,o]=k(null),[s,r]=k("");if(N(()=>{let c=new EventSource(e);return c.addEventListener("progress",u=>{let f=JSON.parse(u.data);o(f),r(""),f.lines.forEach((d,m)=>{t[m]&&(t[m].textContent=d)})}),c.addEventListener("end",()=>{c.close(),location.reload()}),c.addEventListener("problem",u=>{c.close(),r(JSON.parse(u.data).text)}),c.onerror=()=>r("judgekit view does not answer. Is it still running?"),()=>c.close()},[e]),!n)return i`<p class="note">${s||"Loading the progress …"}</p>`;let a=n.total?Math.min(1,n.done/n.total):null;return i`
    <div class="live">
      <progress aria-label="Progress of the run" max=${n.total??void 0}
        value=${a===null?void 0:Math.min(n.done,n.total)}></progress>
      <span class="live-text">${n.lines[0]}</span>
    </div>
    <p class="hidden" role="status">${ta(n,a)}</p>
    ${n.hint&&i`<p class="note">${n.hint}</p>`}
    ${s&&i`<p class="note" role="alert">${s}</p>`}
  `}function ta(e,t){return t===null?"":`${Math.floor(t*10)*10} % of ${e.total}`}function Vo(){let e=document.getElementById("live");if(!e)return;let t=document.querySelectorAll("main > dl dd");te(i`<${ea} address=${e.dataset.events} lines=${t} />`,e)}function Oe(e){return{annotator:e,answers:{},flags:{},seconds:{},saved:null,changed:null}}function le(e,t,n){return e.answers[t.id]?.[n]??null}function Le(e){return e!=null&&(e.cannot||e.choice!=null)}function Yo(e,t){let[n,o]=[e,t].map(s=>[s?.choice??null,s?.cannot??!1,(s?.comment??"").trim()]);return n.every((s,r)=>s===o[r])}var Me=e=>e.name??"";function oe(e,t,n,o){let s=le(t,n,Me(e.criteria[o]));return Le(s)?e.reason&&!s.cannot&&!s.comment.trim():!0}function vt(e,t,n){return n.criteria.every(o=>!oe(e,t,n,o))}var zo=(e,t)=>(t?.at??"")>(e?.at??"")?t:e;function Re(e,t){let n={...e,answers:{...e.answers},flags:{...e.flags},seconds:{...e.seconds}};for(let[s,r]of Object.entries(t.answers)){let a={...n.answers[s]};for(let[c,u]of Object.entries(r))a[c]=zo(a[c],u);n.answers[s]=a}for(let[s,r]of Object.entries(t.flags))n.flags[s]=zo(n.flags[s],r);for(let[s,r]of Object.entries(t.seconds))n.seconds[s]=Math.max(n.seconds[s]??0,r);let o=s=>[e[s],t[s]].filter(Boolean).sort().at(-1)??null;return{...n,saved:o("saved"),changed:o("changed")}}function na(e){let t=2166136261;for(let n of e)t=Math.imul(t^n.codePointAt(0),16777619);return t=Math.imul(t^t>>>15,2246822507),(t^t>>>13)>>>0}var Go=10;function sn(e,t){if(e.adjudicates)return e.items;let n=s=>na(`${e.packet} ${t} ${s.id}`),o=e.items.filter(s=>!s.again);o.sort((s,r)=>s.part-r.part||n(s)-n(r)||(s.id<r.id?-1:1));for(let s of e.items.filter(r=>r.again)){let r=o.findIndex(a=>a.id===s.again);o.splice(Math.min(o.length,r+Go+n(s)%Go),0,s)}return o}function Qo(e,t,n){return n.flatMap((o,s)=>{let r=o.criteria.map(u=>Me(e.criteria[u])),a=r.filter(u=>Le(le(t,o,u))||le(t,o,u)?.comment.trim());return(a.length||!t.flags[o.id]?.on?a:r.slice(0,1)).map(u=>rn(e,t,o,u,s+1))})}function rn(e,t,n,o,s){let r=le(t,n,o),a={packet:e.packet,position:s,labelled_at:r?.at??new Date().toISOString()};t.seconds[n.id]&&(a.seconds=Math.round(t.seconds[n.id])),r?.cannot&&(a.cannot_judge=!0),t.flags[n.id]?.on&&(a.flagged=!0),e.adjudicates&&(a.adjudicates=!0);let c={case_id:n.id};return o!==""&&(c.criterion=o),c.annotator=t.annotator,r&&!r.cannot&&r.choice!=null&&(c[e.pairs?"winner":"raw"]=r.choice),r?.comment.trim()&&(c.rationale=r.comment.trim()),c.metadata=a,c}function an(e,t){let n=new Map(e.items.map(r=>[r.id,r])),o=new Set(t.map(r=>r.annotator));if(o.size>1)throw new Error("This file has the answers of several people. Open a file of one person.");let s=Oe(String([...o][0]??""));for(let r of t){let a=r.metadata??{},c=n.get(r.case_id);if(a.packet!==e.packet||!c)throw new Error("This file belongs to another labelling page, so that its answers do not fit here.");let f={choice:r.raw??r.winner??null,cannot:a.cannot_judge===!0,comment:String(r.rationale??""),at:String(a.labelled_at??"")};s.answers[c.id]={...s.answers[c.id],[r.criterion??""]:f},a.flagged&&(s.flags[c.id]={on:!0,at:f.at}),a.seconds&&(s.seconds[c.id]=a.seconds),f.at>(s.changed??"")&&(s.changed=f.at)}return s}function Xo(e,t){let n=t.split(`
`).map(s=>s.trim()).filter(Boolean),o;try{o=n.map(s=>JSON.parse(s))}catch{throw new Error("This is not a file that this page has saved: it cannot be read.")}if(!o.length||o.some(s=>s===null||typeof s!="object"))throw new Error("This file has no answers.");return an(e,o)}var Zo=e=>e.adjudicates?"judgekit-adjudicate":"judgekit-label",ln=(e,t)=>`${Zo(e)} ${e.packet} ${t}`,es=e=>`${Zo(e)}-name ${e.packet}`;function yt(e,t){try{let n=localStorage.getItem(ln(e,t));return n?Re(Oe(t),JSON.parse(n)):null}catch{return null}}function ts(e){try{return localStorage.getItem(es(e))??""}catch{return""}}function Ve(e,t){let n=Re(t,yt(e,t.annotator)??Oe(t.annotator));try{return localStorage.setItem(ln(e,t.annotator),JSON.stringify(n)),localStorage.setItem(es(e),t.annotator),!0}catch{return!1}}function ns(e,t,n){return n===ln(e,t)}function os(e,t){let n=t.map(r=>`${JSON.stringify(r)}
`).join(""),o=URL.createObjectURL(new Blob([n],{type:"application/jsonl"})),s=document.createElement("a");s.href=o,s.download=e,document.body.append(s),s.click(),s.remove(),setTimeout(()=>URL.revokeObjectURL(o),1e3)}function ss(e){return`labels-${e.normalize("NFKD").replace(/[^\p{L}\p{N}]+/gu,"-").replace(/^-+|-+$/g,"").toLowerCase()||"annotator"}.jsonl`}var oa="judgekit-label/1",sa=12e4,ra=5,aa=5;function is(){let e=document.getElementById("label-data"),t=document.getElementById("label");if(!e||!t)return;let n=JSON.parse(e.textContent);if(n.format!==oa)return;let o=[...t.querySelectorAll("#label-task > p")].map(r=>r.textContent),s=t.dataset.answers??null;t.replaceChildren(),te(i`<${da} task=${n} intro=${o} store=${s} />`,t)}var ia=e=>[...e].sort((t,n)=>t-n)[Math.floor(e.length/2)],la=e=>new Date(e).toLocaleTimeString([],{hour:"2-digit",minute:"2-digit"}),ze=(e,t,n=`${t}s`)=>`${e.toLocaleString("en")} ${e===1?t:n}`,ca=e=>e.closest?.("input:not([type=checkbox]), textarea, select")!=null,ua=e=>e.closest?.("button, a, summary, label, input")!=null;function da({task:e,intro:t,store:n}){let[o,s]=k("start");Y(()=>{document.body.classList.toggle("answering",o!=="start")},[o]);let[r,a]=k(null),[c,u]=k(""),[f,d]=k(!1),[m,p]=k(0),l=A({unsent:new Map,last:Promise.resolve()}),h=A(null);h.current=r;function g($,w){let x={...$,changed:new Date().toISOString()};h.current=x,a(x),d(!Ve(e,x)),n&&w&&y(x,w)}function y($,w){l.current.unsent.set(`${$.annotator} ${w.item.id} ${w.name}`,{known:$,...w}),C()}function C(){let $=l.current;p($.unsent.size),$.last=$.last.then(_)}async function _(){let{unsent:$}=l.current,w="";for(let[x,L]of[...$]){let{known:I,item:E,name:b,position:W}=L;try{await ne(n,{annotator:I.annotator,labels:[rn(e,I,E,b,W)]}),$.get(x)===L&&$.delete(x),h.current={...h.current,saved:new Date().toISOString()},a(h.current)}catch(Q){w=Q.message}}p($.size),u(w&&`${ze($.size,"answer is","answers are")} not stored: ${w} They are kept in this browser, and sent again with the next answer.`)}async function v($,w=yt(e,$)??Oe($)){let x=w;if(n)try{let{labels:L}=await ne(n,{annotator:$,labels:[]}),I={...an(e,L),annotator:$};x=Re(x,I);for(let[E,b]of sn(e,$).entries())for(let W of b.criteria){let Q=Me(e.criteria[W]),[se,Ae]=[x,I].map(re=>le(re,b,Q));!(Le(se)&&oe(e,x,b,W))&&!Yo(se,Ae)&&y(x,{item:b,name:Q,position:E+1})}}catch(L){u(`The answers that are stored cannot be read: ${L.message}`);return}u(""),a(x),d(!Ve(e,x)),s("items")}function S($){try{let w=Xo(e,$),x=Re(yt(e,w.annotator)??Oe(w.annotator),w);if(u(""),n)return void v(w.annotator,x);a({...x,saved:x.saved??w.changed}),d(!Ve(e,x)),s("items")}catch(w){u(w.message)}}let P=J(()=>r?sn(e,r.annotator):[],[r?.annotator]);function O(){os(ss(r.annotator),Qo(e,r,P));let $={...h.current,saved:new Date().toISOString()};h.current=$,a($),Ve(e,$)}N(()=>{let $=x=>{let L=h.current;(n?l.current.unsent.size>0:L?.changed&&L.changed>(L.saved??""))&&x.preventDefault()},w=x=>{let L=h.current;if(!L||!x.newValue||!ns(e,L.annotator,x.key))return;let I=Re(L,JSON.parse(x.newValue));h.current=I,a(I)};return addEventListener("beforeunload",$),addEventListener("storage",w),()=>{removeEventListener("beforeunload",$),removeEventListener("storage",w)}},[]);let q=f?i`<p class="banner fail" role="alert">! This browser does not keep your answers. Use “Save file” often, and before you close the page.</p>`:null,D=c&&i`<p class="banner fail" role="alert">! ${c}
    ${m>0&&i` <button onClick=${C}>Store again</button>`}</p>`;return o==="practice"?i`<${as} task=${rs(e)} items=${rs(e).items} work=${Oe("practice")}
      isPractice leave=${()=>s("start")} />`:o==="start"?i`${D}<${fa} task=${e} intro=${t} isStored=${n!=null} begin=${v} resume=${S}
      practise=${()=>s("practice")} />`:i`${q}${D}<${as} task=${e} items=${P} work=${r} change=${g} save=${O} isRefused=${f}
    isStored=${n!=null} unsent=${m&&(c?"not stored":"storing …")} resume=${S} leave=${()=>s("start")} />`}function fa({task:e,intro:t,isStored:n,begin:o,resume:s,practise:r}){let[a,c]=k(ts(e)),[u,f]=k("");function d(m){m.preventDefault();let p=a.trim().replace(/\s+/g," ");p?e.others?.includes(p)?f(`${p} has labelled these items: a third annotator decides.`):o(p):f("Type your name first.")}return i`
    <section aria-label="The task">
      ${t.map(m=>i`<p>${m}</p>`)}
      <p>${n?"Every answer is stored at once in the project from which this page is served.":`Your answers are kept in this browser only, and nothing is sent anywhere. Use “Save file” when you have finished${e.adjudicates?".":", and send that file back."}`}</p>
    </section>
    <form class="start" onSubmit=${d} novalidate>
      <label for="annotator">Your name</label>
      <input id="annotator" autocomplete="name" maxlength="80" value=${a} aria-describedby="name-gap"
        onInput=${m=>c(m.currentTarget.value)} />
      <button class="main">Start</button>
      ${!e.adjudicates&&i`<button type="button" onClick=${r}>Try it first</button>`}
      <${ls} resume=${s} />
      <p id="name-gap" class="fail" role="alert">${u}</p>
    </form>
    <section aria-label="What is asked">
      ${e.criteria.map(m=>i`
        <section class="criterion"><h2>${m.name??"Preference"}</h2><${cs} criterion=${m} /></section>`)}
    </section>
    <${us} task=${e} />
  `}function ls({resume:e}){let t=A(null);async function n(o){let[s]=o.currentTarget.files;o.currentTarget.value="",s&&e(await s.text())}return i`<button type="button" onClick=${()=>t.current.click()}>Resume from file</button>
    <input type="file" hidden ref=${t} accept=".jsonl,.json,application/jsonl" aria-label="File of your answers" onChange=${n} />`}var wt=e=>e.levels.every((t,n)=>t.shown===String(n+1));function cs({criterion:e}){let t=e.levels?.filter(n=>n.name||n.about)??[];return i`
    <p class="foreign">${e.question}</p>
    ${e.guide&&i`<p class="foreign guide">${e.guide}</p>`}
    ${t.length>0&&i`<dl class="anchors">${t.map(n=>i`
      <dt>${wt(e)||!n.name?n.shown:n.name}</dt>
      <dd>${wt(e)&&n.name}${wt(e)&&n.name&&n.about?": ":""}${n.about}</dd>`)}</dl>`}
  `}function us({task:e,isOpen:t}){let o=[...e.pairs?[["1","the first is better"],["2","the second is better"],["3","they are equally good"],["0","cannot judge"]]:[["1 … 9","score, by the number on the button; the next criterion follows"],["0","cannot judge this criterion; where the score is typed, it begins one"]],["Enter","next item"],["← →","item before, item after"],["↑ ↓","criterion before, after"],["Backspace","undo the last answer"],["m","comment (Esc leaves it)"],["f","flag this item, to come back to it"],["?","these keys"]];return i`<details class="keys" open=${t}><summary>Keys</summary><dl>${o.map(([s,r])=>i`<dt><kbd>${s}</kbd></dt><dd>${r}</dd>`)}</dl></details>`}function rs(e){let t=s=>({text:s,steps:""}),o={id:"practice",part:0,again:"",outputs:e.pairs?[t("You can return it within 30 days, with the receipt."),t("Returns are possible.")]:[t("You can return it within 30 days, with the receipt.")],about:[{title:"Input",text:"I bought a lamp last week. Can I return it?"}],criteria:e.criteria.map((s,r)=>r)};return{...e,packet:"practice",items:[o]}}function as({task:e,items:t,work:n,change:o,save:s,leave:r,resume:a,isPractice:c,isRefused:u,isStored:f,unsent:d}){let[m,p]=k(n),l=c?m:n,h=t.findIndex(T=>!vt(e,l,T)),[g,y]=k(h<0?t.length:h),[C,_]=k(0),[v,S]=k([]),[P,O]=k(""),[q,D]=k(!0),[$,w]=k(!1),[x,L]=k(0),I=A(null),E=A(null);Y(()=>{E.current&&I.current?.querySelector(E.current)?.focus(),E.current=null});let b=t[g]??null,W=t.filter(T=>vt(e,l,T)).length,Q=ma(b,c);function se(T){let j=Math.max(0,Math.min(t.length,T));y(j);let V=t[j]?.criteria.findIndex(B=>oe(e,l,t[j],B))??0;_(Math.max(0,V)),w(!1),O(j===t.length?"End of the items.":`Item ${j+1} of ${t.length}.`),scrollTo(0,0)}function Ae(T,j,V=!1){let B=Me(e.criteria[b.criteria[T]]),ie=le(l,b,B)??{choice:null,cannot:!1,comment:""},G={...ie,...j,at:new Date().toISOString()},X={...l,answers:{...l.answers,[b.id]:{...l.answers[b.id],[B]:G}},seconds:{...l.seconds,[b.id]:(l.seconds[b.id]??0)+Q.take()}};return"comment"in j||S([...v,{at:g,place:T,before:ie}]),c?p(X):o(X,V||e.reason&&oe(e,X,b,b.criteria[T])?null:{item:b,name:B,position:g+1}),X}function ce(T,j,V){let B=Ae(T,{choice:j,cannot:j===null}),ie=e.criteria[b.criteria[T]].name,G=b.criteria.findIndex(kt=>oe(e,B,b,kt)),X=b.criteria.findIndex((kt,ms)=>ms>T&&oe(e,B,b,kt)),Ye=e.reason&&oe(e,B,b,b.criteria[T]),ps=Ye?T:X<0?G<0?T:G:X;_(ps),O(`${V}${ie?` for ${ie}`:""}. ${G<0?"Enter: next item.":""}`),Ye&&(E.current=`[data-place="${T}"] textarea`)}function re(){let T=b.criteria.findIndex(ie=>oe(e,l,b,ie));if(T<0){se(g+1),u&&W%ra===0&&L(W);return}_(T);let j=e.criteria[b.criteria[T]].name,V=le(l,b,j??"");O(Le(V)?"A reason is missing.":`Not answered yet${j?`: ${j}`:""}.`);let B=e.pairs||e.criteria[b.criteria[T]].levels.length;E.current=`[data-place="${T}"] ${Le(V)?"textarea":B?"h3":"input"}`}function me(){let T=v.at(-1);if(!T){O("There is nothing to undo.");return}S(v.slice(0,-1));let j=t[T.at],V=Me(e.criteria[j.criteria[T.place]]),B=le(l,j,V),ie={...T.before,comment:B?.comment??"",at:new Date().toISOString()},G={...l,answers:{...l.answers,[j.id]:{...l.answers[j.id],[V]:ie}}};c?p(G):o(G,{item:j,name:V,position:T.at+1}),y(T.at),_(T.place),O("The last answer is undone.")}function Ge(){let T=!l.flags[b.id]?.on,j={...l.flags,[b.id]:{on:T,at:new Date().toISOString()}};c?p({...l,flags:j}):o({...l,flags:j}),O(T?"Flagged.":"Flag removed.")}function M(T){if(T.ctrlKey||T.metaKey){T.key==="Enter"&&b&&(T.preventDefault(),re());return}if(T.altKey||!q||T.defaultPrevented)return;if(ca(T.target)){if(T.key==="Escape"){T.target.blur();let V=b?.criteria.findIndex(B=>oe(e,l,b,B))??-1;V>=0&&_(V)}return}let j={"?":()=>w(!$),ArrowLeft:()=>se(g-1),Backspace:me};if(b){let V=e.criteria[b.criteria[C]],B=e.pairs?ds:V.levels??[];(e.pairs?B.map(({value:G,name:X})=>[G,X]):B.map(G=>[G.value,G.shown])).forEach(([G,X],Ye)=>j[Ye+1]=()=>ce(C,G,X)),!B.length&&/^[0-9.-]$/.test(T.key)&&I.current?.querySelector(`[data-place="${C}"] input`)?.focus(),B.length&&(j[0]=()=>ce(C,null,"Cannot judge")),j.ArrowRight=()=>se(g+1),j.ArrowDown=()=>_(Math.min(b.criteria.length-1,C+1)),j.ArrowUp=()=>_(Math.max(0,C-1)),j.f=Ge,j.m=()=>{let G=v.at(-1),X=G?.at===g&&oe(e,l,b,b.criteria[C])?G.place:C;_(X),E.current=`[data-place="${X}"] textarea`,O("Comment.")},ua(T.target)||(j.Enter=re)}j[T.key]&&(T.preventDefault(),j[T.key]())}let U=A(null);U.current=M,Y(()=>{let T=j=>U.current(j);return document.addEventListener("keydown",T),()=>document.removeEventListener("keydown",T)},[]);let ae=i`<${$a} task=${e} items=${t} work=${l} nDone=${W} at=${g} isPractice=${c}
    isRefused=${u} isStored=${f} unsent=${d} save=${s} leave=${r} resume=${a} />`,ve=x>0&&u?i`<p class="banner fail" role="alert">! ${ze(x,"item")} done, and this browser does not keep them.
        <button onClick=${()=>{s(),L(0)}}>Save file</button></p>`:null,z=i`<p class="hidden" role="status" aria-live="polite">${P}</p>`;return b?i`
    ${ae}${ve}${z}
    ${$&&i`<${ba} task=${e} hasKeys=${q} setHasKeys=${D} close=${()=>w(!1)} />`}
    <div class=${e.pairs?"item pair":"item"}>
      <${ha} task=${e} item=${b} at=${g} />
      <div class="panel" ref=${I} onClick=${pa}>
        ${b.criteria.map((T,j)=>i`
          <${ga} key=${`${b.id} ${T}`} task=${e} criterion=${e.criteria[T]} place=${j} isActive=${j===C}
            isGap=${oe(e,l,b,T)} answer=${le(l,b,Me(e.criteria[T]))}
            activate=${()=>_(j)} choose=${ce} comment=${(V,B)=>Ae(j,{comment:V},B)} next=${re} />`)}
        <div class="moves">
          <button onClick=${()=>se(g-1)} disabled=${g===0}>← Back</button>
          <button aria-pressed=${!!l.flags[b.id]?.on} onClick=${Ge}>⚑ Flag</button>
          <button onClick=${me} disabled=${!v.length}>Undo</button>
          <button class="main" onClick=${re}>Next item</button>
        </div>
        <button class="plain" aria-expanded=${$} onClick=${()=>w(!$)}>? Keys</button>
      </div>
    </div>`:i`${ae}${ve}${z}<${va} task=${e} items=${t} work=${l} go=${se} save=${s} leave=${r}
      isPractice=${c} isStored=${f} unsent=${d} />`}function pa(e){e.detail&&e.target.closest("button")?.blur()}function ma(e,t){let n=A({last:0,total:0}),o=()=>{let s=performance.now(),r=s-n.current.last;n.current.last&&r<=sa&&!document.hidden&&(n.current.total+=r/1e3),n.current.last=s};return N(()=>{if(t)return;n.current={last:performance.now(),total:0};let s=["keydown","pointerdown","pointermove","wheel"];for(let r of s)addEventListener(r,o,{passive:!0});return()=>s.forEach(r=>removeEventListener(r,o))},[e?.id]),{take(){o();let{total:s}=n.current;return n.current.total=0,s}}}function $a({task:e,items:t,work:n,nDone:o,at:s,isPractice:r,isRefused:a,isStored:c,unsent:u,save:f,leave:d,resume:m}){if(r)return i`<header class="status"><p><strong>Practice</strong> Nothing that you do here is kept.</p>
      <button class="main" onClick=${d}>Back to the start</button></header>`;let p=Object.values(n.seconds).filter(C=>C>0),l=p.length<aa?e.seconds:ia(p),h=Math.ceil((t.length-o)*l/60),g=c?"stored":a?"not kept":"kept in this browser",y=u||(n.changed?a?g:`${g} at ${la(c?n.saved??n.changed:n.changed)}`:"");return i`
    <header class="status">
      <p><bdi><strong>${n.annotator}</strong></bdi>
        <span>${s<t.length?`item ${s+1} of ${t.length}`:`${t.length} items`}, ${o} done</span>
        ${y&&i`<span>${y}</span>`}
        ${o<t.length&&i`<span>about ${ze(h,"minute")} left</span>`}</p>
      <progress max=${t.length} value=${o} aria-label="Items done"></progress>
      <span class="tools"><button onClick=${f}>Save file</button><${ls} resume=${m} />
        <button class="plain" onClick=${d}>Task</button></span>
    </header>`}function ha({task:e,item:t,at:n}){let o=A(null);Y(()=>{document.activeElement===document.body&&o.current?.focus({preventScroll:!0})},[t.id]);let s=e.pairs?["FIRST","SECOND"]:["Output"];return i`
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
    </div>`}function cn({text:e,images:t}){return i`<div class="foreign">${e.split(/\n{2,}/).map(n=>i`<p dir="auto">${n}</p>`)}<${Bt} images=${t} /></div>`}var ds=[{value:"first",name:"First is better"},{value:"second",name:"Second is better"},{value:"tie",name:"Equally good"}];function ga({task:e,criterion:t,place:n,isActive:o,isGap:s,answer:r,activate:a,choose:c,comment:u,next:f}){let d=`question-${n}`,m=e.pairs?ds.map(({value:l,name:h})=>({value:l,shown:h,name:"",about:""})):t.levels,p=!e.pairs&&wt(t);return i`
    <section class=${o?"question active":"question"} data-place=${n} aria-labelledby=${d} onFocusIn=${a}>
      <h3 id=${d} tabindex="-1"><button class="plain" aria-expanded=${o} onClick=${a}>${t.name??"Preference"}</button>
        <span class=${s?"note":"pass"}>${s?Le(r)?"reason missing":"open":"✓"}</span></h3>
      ${o&&i`<${cs} criterion=${t} />`}
      ${m.length?i`<div class="scale" role="radiogroup" aria-labelledby=${d}>
            ${m.map((l,h)=>i`
              <button role="radio" aria-checked=${String(r?.choice===l.value)} onClick=${()=>c(n,l.value,l.shown)}>
                ${(p||!l.name)&&i`<strong>${l.shown}</strong>`}
                ${p&&l.name&&" "}${l.name&&i`<span>${l.name}</span>`}
                ${!p&&o&&i` <kbd aria-hidden="true">${h+1}</kbd>`}</button>`)}
            <button role="radio" class="cannot" aria-checked=${String(!!r?.cannot)}
              onClick=${()=>c(n,null,"Cannot judge")}><span>Cannot judge</span> ${o&&i`<kbd aria-hidden="true">0</kbd>`}</button>
          </div>`:i`<${_a} criterion=${t} answer=${r} place=${n} choose=${c} />`}
      ${(o||r?.comment)&&i`
        <label class="comment"><span>${e.reason?"Reason (required)":"Comment (optional)"}</span>
          <textarea rows="2" value=${r?.comment??""} onInput=${l=>u(l.currentTarget.value,!0)} onChange=${l=>u(l.currentTarget.value)}
            onKeyDown=${l=>{l.key==="Enter"&&!l.shiftKey&&!l.isComposing&&!l.ctrlKey&&!l.metaKey&&(l.preventDefault(),l.currentTarget.blur(),f())}}></textarea></label>`}
    </section>`}function _a({criterion:e,answer:t,place:n,choose:o}){let[s,r]=k(t?.choice??""),[a,c]=k("");N(()=>r(t?.choice??""),[t?.choice]);function u(f){f.preventDefault();let d=Number(s);if(s===""||!(d>=e.min&&d<=e.max)||e.whole&&!Number.isInteger(d)){c(`Type a ${e.whole?"whole number":"number"} from ${e.min} to ${e.max}.`);return}c(""),f.currentTarget.querySelector("input").blur(),o(n,d,String(d))}return i`<form class="scale" onSubmit=${u} novalidate>
    <label>Score, ${e.min} to ${e.max} <input type="number" step="any" min=${e.min} max=${e.max}
      value=${s} onInput=${f=>r(f.currentTarget.value)} /></label>
    <button>Set</button>
    <button type="button" class="cannot" aria-pressed=${!!t?.cannot} onClick=${()=>o(n,null,"Cannot judge")}>Cannot judge</button>
    <p class="fail" role="alert">${a}</p></form>`}function ba({task:e,hasKeys:t,setHasKeys:n,close:o}){return i`<section class="help" aria-label="Keys"><${us} task=${e} isOpen />
    <label><input type="checkbox" checked=${t} onChange=${s=>n(s.currentTarget.checked)} /> Single keys are on</label>${" "}
    <button onClick=${o}>Close</button></section>`}function va({task:e,items:t,work:n,go:o,save:s,leave:r,isPractice:a,isStored:c,unsent:u}){let f=A(null);if(Y(()=>f.current?.focus(),[]),a)return i`<section class="end"><h2 ref=${f} tabindex="-1">That was the practice item</h2>
      <button class="main" onClick=${r}>Back to the start</button></section>`;let d=t.map((h,g)=>[h,g]).filter(([h])=>!vt(e,n,h)),m=t.map((h,g)=>[h,g]).filter(([h])=>n.flags[h.id]?.on),p=t.reduce((h,g)=>h+Object.values(n.answers[g.id]??{}).filter(y=>y.cannot).length,0),l=(h,g)=>g.length>0&&i`<h3>${h}</h3><p class="jumps">${g.map(([,y])=>i`<button onClick=${()=>o(y)}>Item ${y+1}</button>`)}</p>`;return i`
    <section class="end">
      <h2 ref=${f} tabindex="-1">${d.length?`${ze(d.length,"item is","items are")} not finished`:"All items are done"}</h2>
      ${p>0&&i`<p>You could not judge ${ze(p,"criterion","criteria")}: ${c&&!e.pairs?"no label is stored there":"that is recorded as such"}.</p>`}
      ${l("Not finished",d)}
      ${l("Flagged",m)}
      ${c?i`<p>${u?`Not every answer is stored yet: ${u}.`:"Every answer is stored. You can close this page."}</p>`:i`<p>${e.adjudicates?"Save the file, and join it with the files of the annotators: judgekit label --merge.":"Save the file and send it back to whoever gave you this page."}</p><button class="main" onClick=${s}>Save file</button>`}
    </section>`}var fs=Sn(),un=document.getElementById("cases");if(fs&&un){un.querySelector(".static").classList.add("print-only");let e=document.createElement("div");e.className="screen-only",un.querySelector(".static").before(e),te(i`<${vo} index=${fs} />`,e)}wo();yo();ko(document);Ho();Jo();Vo();is();})();
