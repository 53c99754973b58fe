/* judgekit, with preact, htm, diff: licences in LICENSES.txt */
(()=>{var S,pt,vn,U,De,me,mt,fe,ht,Ie,Le,gn,re=Symbol.for("pv"),he={},$e=[],bn=/^m(i|n|o|s|text|space)$/,We=Array.isArray,je=$e.slice,G=Object.assign;function Y(t){t&&t.parentNode&&t.remove()}function $t(t,e,n){var o,s,r,i={},a=arguments.length;for(r in e)r=="key"?o=e[r]:r=="ref"&&typeof t!="function"?s=e[r]:i[r]=e[r];return a>2&&(i.children=a>3?je.call(arguments,2):n),oe(t,i,o,s,null)}function oe(t,e,n,o,s){var r={type:t,props:e,key:n,ref:o,__k:null,__:null,__b:0,__e:null,__c:null,constructor:re,__v:s||++pt,__i:-1,__u:0};return!s&&S.vnode&&S.vnode(r),r}function ve(t){return t.children}function _e(t,e){this.props=t,this.context=e,this.__g=0}function q(t,e){if(e==null)return t.__&&q(t.__,t.__i+1);for(var n;e<t.__k.length;e++)if((n=t.__k[e])&&n.__e)return n.__e;return typeof t.type!="function"||t.props.__P?null:q(t)}function yn(t){var e,n=t.__v,o=n.__e,s=[],r=[],i=t.__P;i&&((e=G({constructor:re},n)).__v=n.__v+1,S.vnode&&S.vnode(e),Ae(i,e,n,t.__n,i.namespaceURI,32&n.__u?[o]:null,s,o||q(n),32&n.__u,r),e.__v=n.__v,e.__.__k[e.__i]=e,kt(s,e,r),n.__=n.__e=null,e.__e!=o&&vt(e))}function vt(t){if((t=t.__)&&t.__c&&!t.props.__P)return t.__e=null,t.__k.some(function(e){return e&&(t.__e=e.__e)}),vt(t)}function ft(t){(8&t.__g||(t.__g|=8,U.push(t),me++))&&De==S.debounceRendering||((De=S.debounceRendering)||queueMicrotask)(gt)}function gt(){try{for(var t,e=1;U.length;)U.length>e&&U.sort(mt),t=U.shift(),e=U.length,8&t.__g&&yn(t)}finally{(me=U.length)&&(De||queueMicrotask)(gt)}}function bt(t,e,n,o,s,r,i,a,c,f,u){var _,p,l,$,h,b,y=o.__k||$e,m=e.length;for(c=wn(n,e,y,c,m),_=0;_<m;_++)(l=n.__k[_])!=null&&(p=~l.__i&&y[l.__i]||he,l.__i=_,b=Ae(t,l,p,s,r,i,a,c,f,u),$=l.__e,(p.ref!=l.ref||8&p.__u)&&(p.ref&&Re(p.ref,null,l,p),l.ref&&u.push(l.ref,l.__c||$,l)),h=h||$,4&l.__u?(c=yt(l,c,t,!p.__v),p.__e&&(p.__e=null)):typeof l.type=="function"&&b!==void 0?c=b:$&&(c=$.nextSibling),l.__u&=-21);return n.__e=h,c}function wn(t,e,n,o,s){var r,i,a,c,f,u,_,p,l,$=n.length,h=$,b=0,y=0,m=t.__k=Array(s);for(r=0;r<s;r++)(i=e[r])!=null&&typeof i!="boolean"&&typeof i!="function"?(typeof i!="object"||i.constructor===String?i=m[r]=oe(null,i):We(i)?i=m[r]=oe(ve,{children:i}):i.constructor===re&&i.__b?i=m[r]=oe(i.type,i.props,i.key,i.ref,i.__v):m[r]=i,c=r+b,i.__=t,i.__b=t.__b+1,a=null,~(f=i.__i=kn(i,n,c,h))&&(h--,(a=n[f])&&(a.__u|=2)),a&&a.__v?(i.__u|=16,f==c-1?b--:f==c+1?b++:f!=c&&(f>c?b--:b++,y=1)):(~f||(s>$?b--:s<$&&b++),typeof i.type!="function"&&(i.__u|=4))):m[r]=null;if(y){for(u=[],_=[],r=0;r<s;r++)if((i=m[r])&&16&i.__u){for(b=0,p=u.length;b<p;)u[l=b+p>>1]<i.__i?b=l+1:p=l;u[b]=i.__i,_[r]=b+1}for(b=u.length;r--;)_[r]&&(_[r]==b?b--:m[r].__u|=4)}if(h)for(r=0;r<$;r++)!(a=n[r])||2&a.__u||(a.__e==o&&(o=q(a)),Fe(a,a));return o}function yt(t,e,n,o){var s,r,i,a;if(typeof t.type=="function"){if(t.props.__P)return e;if(s=t.__k)for(r=0;r<s.length;r++)s[r]&&(s[r].__=t,e=yt(s[r],e,n,!1));return e}for(e&&!e.parentNode&&(e=q(t))&&!e.parentNode&&(e=null),i=t.__e,a=e;a&&a.nodeType==8;)a=a.nextSibling;for(i!=a&&(!o&&n.moveBefore&&i.parentNode?n.moveBefore(i,e):n.insertBefore(i,e||null)),e=i;(e=e&&e.nextSibling)&&e.nodeType==8&&!e.data.startsWith("$s"););return e}function kn(t,e,n,o){var s,r=t.key,i=t.type,a=e[n],c=a&&!(2&a.__u);if(a===null&&r==null||c&&r==a.key&&i==a.type)return n;if(o>(c?1:0)){for(s=n-1;s>=0;s--)if((a=e[s])&&!(2&a.__u)&&r==a.key&&i==a.type)return s;for(s=n+1;s<e.length;s++)if((a=e[s])&&!(2&a.__u)&&r==a.key&&i==a.type)return s}return-1}function _t(t,e,n){n==null&&(n=""),e[0]=="-"?t.setProperty(e,n):t[e]=n}function de(t,e,n,o,s){var r,i;if(e=="style")if(typeof n=="string")t.style.cssText=n;else{if(typeof o=="string"&&(t.style.cssText=o=""),o)for(e in o)n&&e in n||_t(t.style,e);if(n)for(e in n)o&&n[e]==o[e]||_t(t.style,e,n[e])}else if(e[0]=="o"&&e[1]=="n")typeof n!="function"&&(n=null),typeof o!="function"&&(o=null),(t.__e||(t.__e={}))[e]=n,n&&o||(i=Le[e]||(Le[e]=xn(e)),(t.__a||(t.__a={}))[e]=Ie,r=e!=(e=e.replace(ht,"$1")),(e=e.slice(2))[0]<"a"&&(e=e.toLowerCase()),n?t.addEventListener(e,i,r):t.removeEventListener(e,i,r));else{if(s=="http://www.w3.org/2000/svg")e=e.replace(/xlink(H|:h)/,"h").replace(/sName$/,"s");else if(e!="width"&&e!="height"&&e!="href"&&e!="list"&&e!="form"&&e!="tabIndex"&&e!="download"&&e!="rowSpan"&&e!="colSpan"&&e!="role"&&e!="popover"&&e in t)try{return void(t[e]=n??"")}catch{}if(typeof n=="function")return;n==null||n===!1&&e[4]!="-"?t.removeAttribute(e):t.setAttribute(e,e=="popover"&&n==1?"":n)}}function xn(t){return function(e){var n=this.__e;if(n){if(n=n[t],e[fe]==null)e[fe]=Ie++;else if(e[fe]<this.__a[t])return;return n(S.event?S.event(e):e)}}}function Ae(t,e,n,o,s,r,i,a,c,f){var u,_,p,l,$,h,b,y,m,w,g,T,E,W,D,v,C,P,R=e.type;if(e.constructor!==re)return null;128&n.__u&&(c=32&n.__u,u=n.__c.__z)&&(e.__u|=c,_=r=[],u.nodeType==8?a=pe(u,r):r.push(u),a=r[0]||a),(u=S.__b)&&u(e);e:if(typeof R=="function"){p=i.length;try{if(y=e.props,m=(u=R.prototype)&&u.render,w=(u=R.contextType)&&o[u.__c],g=u?w?w.props.value:u.__:o,(l=n.__c)?(e.__c=l,2&l.__g&&(l.__g|=1)):(m?e.__c=l=new R(y,g):(e.__c=l=new _e(y,g),l.constructor=R,l.render=Sn),w&&w.sub(l),l.state||(l.state={}),l.__n=o,l.__g|=8,l.__h=[],l.__k=[]),m&&(l.__s||(l.__s=l.state),R.getDerivedStateFromProps&&(l.__s==l.state&&(l.__s=G({},l.__s)),G(l.__s,R.getDerivedStateFromProps(y,l.__s)))),$=l.props,h=l.state,l.__v=e,n.__c){if(y!==$&&m&&!R.getDerivedStateFromProps&&l.componentWillReceiveProps&&l.componentWillReceiveProps(y,g),e.__v==n.__v&&!(8&l.__g)||!(4&l.__g)&&l.shouldComponentUpdate&&l.shouldComponentUpdate(y,l.__s,g)===!1){e.__v!=n.__v&&(l.props=y,l.state=l.__s,l.__g&=-9),e.__e=n.__e,e.__k=n.__k,e.__k.some(function(j){j&&(j.__=e)}),$e.push.apply(l.__h,l.__k),l.__k=[],l.__h.length&&i.push(l),a=q(n);break e}l.componentWillUpdate&&l.componentWillUpdate(y,l.__s,g),m&&l.componentDidUpdate&&l.__h.push(function(){l.componentDidUpdate($,h,b)})}else m&&!R.getDerivedStateFromProps&&l.componentWillMount&&l.componentWillMount(),m&&l.componentDidMount&&l.__h.push(l.componentDidMount);l.context=g,l.props=y,l.__P=t,l.__g&=-5,T=S.__r,E=m?25:0;do l.__g&=-9,T&&T(e),u=l.render(l.props,l.state=l.__s,l.context);while(8&l.__g&&++E<25);m&&($e.push.apply(l.__h,l.__k),l.__k=[]),l.state=l.__s,l.getChildContext&&(o=G({},o,l.getChildContext())),m&&n.__c&&l.getSnapshotBeforeUpdate&&(b=l.getSnapshotBeforeUpdate($,h)),W=u&&u.type===ve&&u.key==null?u.props.children:u,y.__P&&(u=a,s=(t=y.__P).namespaceURI,c=r=null,n.props&&n.props.__P!=t&&(n.__k.some(function(j){j&&Fe(j,j)}),n.__k=null),a=n.__k?q(n,0):null),a=bt(t,We(W)?W:[W],e,n,o,s,r,i,a,c,f),y.__P&&(e.__e=null,a=u),e.__u&=-161,_&&_.some(Y),l.__h.length&&i.push(l),1&l.__g&&(l.__g&=-4)}catch(j){if(i.length=p,e.__v=null,c||r)if(j&&j.then){if(e.__u|=128|c,r){for(~(C=r.indexOf(a||void 0))||(C=r.length);(P=r[C-1])&&P.nodeType==8;)C--;for(;C<r.length;C++)if(P=r[C])if(r[C]=null,D){if(P==v)break}else{if(P.nodeType!=8)break;P.data.startsWith("$s")&&(v=pe(D=P))}}if(!D){for(;a&&a.nodeType==8&&a.nextSibling;)a=a.nextSibling;D=a}(u=pe(D=e.__c.__z||(e.__c.__z=D)))?(e.__e=D,a=u):e.__e=a,a=a&&a.nextSibling}else r&&r.some(Y);else e.__e=n.__e;e.__k||(e.__k=n.__k||[]),j&&j.then||wt(e),S.__e(j,e,n)}}else a=e.__e=Cn(n.__e,e,n,o,s,r,i,c,f,t);return(u=S.diffed)&&u(e),a}function pe(t,e){if(t&&t.nodeType==8&&t.data.startsWith("$s"))for(var n=1;t=t.nextSibling;){if(t.nodeType==8){if(t.data.startsWith("$s"))n++;else if(t.data.startsWith("/$s")&&!--n)return t}e&&e.push(t)}}function wt(t){t&&(t.__c&&(t.__c.__g|=4),t.__k&&t.__k.some(wt))}function kt(t,e,n){for(var o=0;o<n.length;)Re(n[o++],n[o++],n[o++]);S.__c&&S.__c(e,t),t.some(function(s){try{t=s.__h,s.__h=[],t.some(function(r){r.call(s)})}catch(r){S.__e(r,s.__v)}})}function Cn(t,e,n,o,s,r,i,a,c,f){var u,_,p,l,$,h,b,y,m=n.props||he,w=e.props,g=e.type;if(g=="svg"?s="http://www.w3.org/2000/svg":g=="math"?s="http://www.w3.org/1998/Math/MathML":s||(s="http://www.w3.org/1999/xhtml"),r){for(u=0;u<r.length;u++)if(($=r[u])&&(g?$.localName==g:$.nodeType==3)){t=$,r[u]=null;break}}if(!t){if(y=f.ownerDocument||document,!g)return y.createTextNode(w);t=y.createElementNS(s,g,w.is?w:f),a&&(S.__m&&S.__m(e,r),a=!1),r=null}if(g){if(f=g=="template"&&t.content||t,r=g=="textarea"&&w.defaultValue!=null?null:r&&je.call(f.childNodes),!a&&r)for(m={},u=0;u<t.attributes.length;u++)m[($=t.attributes[u]).name]=$.value;for(u in m)$=m[u],u=="dangerouslySetInnerHTML"?p=$:u=="children"||u in w||u=="value"&&"defaultValue"in w||u=="checked"&&"defaultChecked"in w||de(t,u,null,$,s);for(u in w)$=w[u],u=="children"?l=$:u=="dangerouslySetInnerHTML"?_=$:u=="value"?h=$:u=="checked"?b=$:a&&typeof $!="function"||m[u]===$||de(t,u,$,m[u],s);_?(a||p&&(_.__html==p.__html||_.__html==t.innerHTML)||(t.innerHTML=_.__html),e.__k=[]):(p&&(t.textContent=""),(g=="foreignObject"||s=="http://www.w3.org/1998/Math/MathML"&&bn.test(g))&&(s="http://www.w3.org/1999/xhtml"),bt(f,We(l)?l:[l],e,n,o,s,r,i,r?r[0]:n.__k&&q(n,0),a,c),r&&r.some(Y)),a&&g!="textarea"||(u="value",g=="progress"&&h==null?t.removeAttribute(u):h==null||h===t[u]&&(g!="progress"||h)||de(t,u,h,m[u],s),u="checked",b!=null&&b!=t[u]&&de(t,u,b,m[u],s))}else m===w||a&&t.data==w||(t.data=w);return t}function Re(t,e,n,o){try{typeof t=="function"?e?e.__x=t(e)||1:o&&(o=o.__c||o.__e)&&(e=o.__x)&&(o.__x=null,typeof e=="function"?e():t(null)):t.current=e}catch(s){S.__e(s,n)}}function Fe(t,e,n){var o,s,r,i;if(S.unmount&&S.unmount(t),!(o=t.ref)||o.current&&o.current!=t.__e||Re(o,null,e,t),o=t.__c){if(o.componentWillUnmount)try{o.componentWillUnmount()}catch(a){S.__e(a,e)}o.__P=o.__n=null}if(o=t.__k)for(i=0;i<o.length;i++)o[i]&&Fe(o[i],e,typeof t.type!="function"||n&&!t.props.__P);!n&&(o=t.__c)&&(o=o.__z)&&(s=pe(o,r=[]))&&(o==t.__e&&r.some(Y),Y(s),Y(o)),n||Y(t.__e),t.__e=t.__c=t.__=null}function Sn(t,e,n){return this.constructor(t,n)}function J(t,e){var n,o,s,r;S.__&&S.__(t,e),e.nodeType==9&&(e=e.documentElement),o=(n=t&&32&t.__u)?null:e.__k,e.__k=oe(ve,{children:[t]}),s=[],r=[],Ae(e,e.__k,o||he,he,e.namespaceURI,o?null:e.firstChild?je.call(e.childNodes):null,s,o?o.__e:e.firstChild,n,r),kt(s,e.__k,r),e.__k.props.children=null}S={__e:function(t,e,n,o){for(var s,r,i;e=e.__;)if((s=e.__c)&&!(1&s.__g)){s.__g|=4;try{if((i=(r=s.constructor)&&r.getDerivedStateFromError)&&s.setState(r.getDerivedStateFromError(t)),s.componentDidCatch&&(s.componentDidCatch(t,o||{}),i=1),i&&8&s.__g)return void(s.__g|=2)}catch(a){t=a}}throw me=0,t}},pt=0,vn=function(t){return t!=null&&t.constructor===re},_e.prototype.setState=function(t,e){var n=this.__s;n&&n!=this.state||(n=this.__s=G({},this.state)),typeof t=="function"&&(t=t(G({},n),this.props)),t&&(G(n,t),this.__v&&(e&&this.__k.push(e),ft(this)))},_e.prototype.forceUpdate=function(t){this.__v&&(this.__g|=4,t&&this.__h.push(t),ft(this))},_e.prototype.render=ve,U=[],me=0,mt=function(t,e){return t.__v.__b-e.__v.__b},fe=Symbol(),ht=/(PointerCapture)$|Capture$/i,Ie=0,Le={},gn=0;var Ct=function(t,e,n,o){var s;e[0]=0;for(var r=1;r<e.length;r++){var i=e[r++],a=e[r]?(e[0]|=i?1:2,n[e[r++]]):e[++r];i===3?o[0]=a:i===4?o[1]=Object.assign(o[1]||{},a):i===5?(o[1]=o[1]||{})[e[++r]]=a:i===6?o[1][e[++r]]+=a+"":i?(s=t.apply(a,Ct(t,a,n,["",null])),o.push(s),a[0]?e[0]|=2:(e[r-2]=0,e[r]=s)):o.push(a)}return o},xt=new Map;function St(t){var e=xt.get(this);return e||(e=new Map,xt.set(this,e)),(e=Ct(this,e.get(t)||(e.set(t,e=(function(n){for(var o,s,r=1,i="",a="",c=[0],f=function(p){r===1&&(p||(i=i.replace(/^\s*\n\s*|\s*\n\s*$/g,"")))?c.push(0,p,i):r===3&&(p||i)?(c.push(3,p,i),r=2):r===2&&i==="..."&&p?c.push(4,p,0):r===2&&i&&!p?c.push(5,0,!0,i):r>=5&&((i||!p&&r===5)&&(c.push(r,0,i,s),r=6),p&&(c.push(r,p,0,s),r=6)),i=""},u=0;u<n.length;u++){u&&(r===1&&f(),f(u));for(var _=0;_<n[u].length;_++)o=n[u][_],r===1?o==="<"?(f(),c=[c],r=3):i+=o:r===4?i==="--"&&o===">"?(r=1,i=""):i=o+i[0]:a?o===a?a="":i+=o:o==='"'||o==="'"?a=o:o===">"?(f(),r=1):r&&(o==="="?(r=5,s=i,i=""):o==="/"&&(r<5||n[u][_+1]===">")?(f(),r===3&&(c=c[0]),r=c,(c=c[0]).push(2,0,r),r=0):o===" "||o==="	"||o===`
`||o==="\r"?(f(),r=2):i+=o),r===3&&i==="!--"&&(r=4,c=c[0])}return f(),c})(t)),e),arguments,[])).length>1?e:e[0]}var d=St.bind($t);var Pn="judgekit-page/1";function Pt(){let t=document.getElementById("page-index");if(!t)return null;let e=JSON.parse(t.textContent);return e.format===Pn?e:null}async function En(t){let e=Uint8Array.from(atob(t),o=>o.charCodeAt(0)),n=new Blob([e]).stream().pipeThrough(new DecompressionStream("gzip"));return JSON.parse(await new Response(n).text())}var He=new Map;function Tn(t){if(!He.has(t)){let e=document.getElementById(`chunk-${t}`),n=document.getElementById("page-index").dataset.chunks;He.set(t,e?En(e.textContent):fetch(`${n}${t}`).then(o=>o.json()))}return He.get(t)}async function Et(t,e){return(await Tn(Math.floor(e/t.chunk)))[e%t.chunk]}var X,N,Ue,Tt,qe=Object.is,ge=0,At=[],Je=[],O=S,Ot=O.__b,Nt=O.__r,Mt=O.diffed,Dt=O.__c,Lt=O.unmount,It=O.__;function ie(t,e){O.__h&&O.__h(N,t,ge||e),ge=0;var n=N.__H||(N.__H={__:[],__h:[]});return t>=n.__.length&&n.__.push({}),n.__[t]}function x(t){return ge=1,On(Rt,t)}function On(t,e,n){var o=ie(X++,2);if(o.t=t,!o.__c&&(o.__=[n?n(e):Rt(void 0,e),function(r){var i=(o.__N||o.__)[0],a=o.t(i,r);qe(i,a)||(o.__N=[a,o.__[1]],o.__c.setState({}))}],o.__c=N,!N.__f)){N.__f=!0;var s=N.shouldComponentUpdate;N.shouldComponentUpdate=function(r,i,a){var c=this.__H;if(!c)return!0;var f=!1,u=this.props!=r;if(c.__.some(function(p){p.__N&&(f=!0,qe(p.__[0],p.__N[0])||(u=!0))}),s){var _=s.call(this,r,i,a);return f?_||u:_}return!f||u}}return o.__}function M(t,e){var n=ie(X++,3);!O.__s&&Ve(n.__H,e)&&(n.__P=!0,n.__=t,n.u=e,N.__H.__h.push(n))}function ae(t,e){var n=ie(X++,4);!O.__s&&Ve(n.__H,e)&&(n.__P=!1,n.__=t,n.u=e,N.__h.push(n))}function I(t){return ge=5,Nn(function(){return{current:t}},[])}function Nn(t,e){var n=ie(X++,7);return Ve(n.__H,e)&&(n.__=t(),n.__H=e),n.__}function B(){var t=ie(X++,11);if(!t.__){for(var e=N.__v;!e.__m&&e.__;)e=e.__;var n=e.__m||(e.__m=[0,0]);t.__="P"+n[0]+"-"+n[1]++}return t.__}function Mn(){var t;do{for(;t=Je.shift();)try{se(t)}catch(n){O.__e(n,{__:(t=t.__P)&&t.__v})}for(;t=At.shift();){var e=t.__H;if(t.__P&&e)try{e.__h.some(se),e.__h.some(Be),e.__h=[]}catch(n){e.__h=[],O.__e(n,t.__v)}}}while(Je.length)}O.__b=function(t){N=null,Ot&&Ot(t)},O.__=function(t,e){t&&e.__k&&e.__k.__m&&(t.__m=e.__k.__m),It&&It(t,e)},O.__r=function(t){Nt&&Nt(t),X=0;var e=(N=t.__c).__H;e&&(Ue==N?N.__h=[]:(e.__h.some(se),e.__h.some(Be),X=0),e.__h=[],e.__.some(function(n){n.__N&&(n.__=n.__N),n.u=n.__N=void 0})),Ue=N},O.diffed=function(t){Mt&&Mt(t);var e=t.__c;e&&e.__H&&(e.__H.__h.length&&jt(At.push(e)),e.__H.__.some(function(n){n.u&&(n.__H=n.u)})),Ue=N=null},O.__c=function(t,e){e.some(function(n){try{n.__h.some(se),n.__h=n.__h.filter(function(o){return!o.__||Be(o)})}catch(o){n.__h=[function(){throw o}]}}),Dt&&Dt(t,e)},O.unmount=function(t){Lt&&Lt(t);var e,n,o=t.__c;o&&o.__H&&(o.__H.__.some(function(s){try{if(s.__P&&s.__c){if(n===void 0){for(n=t.__;n&&(!n.__c||!n.__c.__P);)n=n.__;n=n&&n.__c}s.__P=n,jt(Je.push(s))}else se(s)}catch(r){e=r}}),o.__H=void 0,e&&O.__e(e,o.__v))};var Wt=typeof requestAnimationFrame=="function";function Dn(t){var e,n=function(){clearTimeout(o),Wt&&cancelAnimationFrame(e),setTimeout(t)},o=setTimeout(n,35);Wt&&(e=requestAnimationFrame(n))}function jt(t){t!=1&&Tt==O.requestAnimationFrame||((Tt=O.requestAnimationFrame)||Dn)(Mn)}function se(t){var e=N,n=t.__c;typeof n=="function"&&(t.__c=void 0,n()),N=e}function Be(t){var e=N;t.__c=t.__(),N=e}function Ve(t,e){return!t||t.length!=e.length||e.some(function(n,o){return!qe(n,t[o])})}function Rt(t,e){return typeof e=="function"?e(t):e}function Ft({index:t,title:e}){let[n,o]=x(null);return d`
    <h2>${e}</h2>
    <div class="wide cases">
      <table>
        <tbody>
          ${t.order.slice(0,100).map(s=>d`
            <tr data-row=${s} onClick=${async()=>o(await Et(t,s))}>
              <th scope="row" class="id">${t.ids[s]}</th>
              <td>${t.snippets[s]}</td>
              ${t.cells.map(r=>d`<td>${r.value[s]??""}</td>`)}
            </tr>`)}
        </tbody>
      </table>
    </div>
    ${n&&d`<div class="drawer"><pre>${JSON.stringify(n,null,1)}</pre></div>`}
  `}var Q=class extends Error{constructor(e,n,o=null){super(e),this.status=n,this.reply=o}};function ze(){return Ht()!==void 0}function Ht(){return document.querySelector('meta[name="judgekit-token"]')?.content}async function F(t,e){if(!ze())throw new Q("This page can change nothing: it is for reading only.",0);let n;try{n=await fetch(t,{method:"POST",headers:{"content-type":"application/json","x-judgekit-token":Ht()},body:JSON.stringify(e)})}catch{throw new Q("judgekit view does not answer. Is it still running?",0)}let o=await n.text(),r=n.headers.get("content-type")?.startsWith("application/json")?JSON.parse(o):null;if(!n.ok)throw new Q(r?.error??o,n.status,r);return r}var be=20;function Ut({path:t,text:e,problems:n,isReadOnly:o,target:s,onInput:r}){let i=I(null),a=I(null),[c,f]=x({top:0,height:600}),u=()=>i.current&&f({top:i.current.scrollTop,height:i.current.clientHeight});ae(()=>{i.current.value!==e&&(i.current.value=e)},[e]),M(()=>{let h=new ResizeObserver(u);return h.observe(i.current),()=>h.disconnect()},[]),ae(()=>{a.current.style.transform=`translateY(${-(c.top%be)}px)`},[c]),M(()=>{if(!s)return;let h=e.split(`
`),b=h.slice(0,s.line-1).reduce((y,m)=>y+m.length+1,0);i.current.focus(),i.current.setSelectionRange(b,b+(h[s.line-1]??"").length),i.current.scrollTop=Math.max(0,(s.line-4)*be),i.current.scrollLeft=0,u()},[s]);let _=new Map;for(let h of n){let b=_.get(h.line);_.set(h.line,{severity:b?.severity==="error"?"error":h.severity,words:b?`${b.words}
${h.message}`:h.message})}let p=e.split(`
`).length,l=Math.floor(c.top/be),$=Math.min(p-l,Math.ceil(c.height/be)+1);return d`
    <div class="ed-text">
      <div class="ed-gutter" aria-hidden="true">
        <div ref=${a}>
          ${Array.from({length:Math.max(0,$)},(h,b)=>{let y=l+b+1,m=_.get(y),w=m&&(m.severity==="error"?"✗":"!");return d`<div class=${m?`ed-${m.severity}`:""} title=${m?.words}>${w} ${y}</div>`})}
        </div>
      </div>
      <textarea ref=${i} wrap="off" spellcheck=${!1} autocomplete="off" aria-label=${`Text of ${t}`}
        readOnly=${o} onScroll=${u} onInput=${h=>r(h.target.value)} />
    </div>`}var Ln=400,qt=90,Ye=500,In={assertions:[],scorers:[],variants:[],suites:[],needs:[],examples:[],tags:[],stratum:"",metadata:{},evaluation:{},judge:{},gate:{},settings:{},compare:{},prices:{},columns:{},panel:{}};function Wn(t,e){let[n,o]=x(t),s=I({draft:t,value:t,timer:0});s.current.commit=e,M(()=>{s.current.draft===s.current.value&&o(s.current.draft=t),s.current.value=t},[t]);let r=()=>{clearTimeout(s.current.timer),s.current.draft!==s.current.value&&(s.current.value=s.current.draft,s.current.commit(s.current.draft))};return M(()=>r,[]),[n,a=>{o(s.current.draft=a),clearTimeout(s.current.timer),s.current.timer=setTimeout(r,Ln)},r]}function Bt(t,e){let[n,o]=x(t);return M(()=>o(t),[t]),[n,async r=>{o(r),await e(r)||o(t)}]}function H({label:t,value:e,onCommit:n,lines:o=1,hint:s="",problem:r="",type:i="text"}){let a=B(),[c,f,u]=Wn(e,n),_=I(null),p=Math.min(16,Math.max(o,c.split(`
`).length)),l=r||s?`${a}-about`:null,$={id:a,value:c,"aria-describedby":l,"aria-invalid":r?"true":null,onInput:h=>f(h.target.value),onBlur:u};return d`
    <div class="ed-field">
      <label for=${a}>${t}</label>
      ${o===1?d`<input type=${i} ref=${_} ...${$} />`:d`<textarea rows=${p} ...${$} />`}
      ${l&&d`<p id=${l} class=${r?"fail":"note"}>${r||s}</p>`}
    </div>`}function jn({label:t,value:e,onCommit:n,hint:o}){let[s,r]=x(""),i=JSON.stringify(e,null,2),a=c=>{let f;try{f=JSON.parse(c)}catch(u){r(`Not in the file yet, for it is not JSON: ${u.message}`);return}r(""),n(f)};return d`<${H} label=${`${t} (JSON)`} value=${i} lines=${2} problem=${s} hint=${o} onCommit=${a} />`}function Z({label:t,value:e,lines:n,onCommit:o,onRemove:s,hint:r}){return e!=null&&typeof e!="string"?d`<${jn} label=${t} value=${e} onCommit=${o} hint=${r} />`:d`<${H} label=${t} value=${e??""} lines=${n} onCommit=${a=>a===""&&s?s():o(a)} hint=${r} />`}function ye({label:t,value:e,onCommit:n,onRemove:o,hint:s}){let[r,i]=x(""),a=c=>{let f=c.trim(),u=f!==""&&Number.isFinite(Number(f));i(u||f===""&&o?"":"Not in the file yet: a number is needed."),u?n(Number(f)):f===""&&o&&o()};return d`<${H} label=${t} value=${e==null?"":String(e)}
    problem=${r} hint=${s} onCommit=${a} />`}function Ge({data:t,known:e,where:n,change:o,noun:s}){let[r,i]=x(""),a=B(),c=Object.keys(t).filter(_=>!e.includes(_)),f=r.trim(),u=async()=>{f&&!(f in t)&&await o("set",[...n,f],In[f]??"")&&i("")};return d`
    ${c.map(_=>d`
      <div class="ed-other" key=${_}>
        <${Z} label=${_} value=${t[_]??void 0} lines=${1}
          onCommit=${p=>o("set",[...n,_],p)} />
        <button onClick=${()=>o("remove",[...n,_])} aria-label=${`Remove ${_}`} title="Remove">×</button>
      </div>`)}
    <div class="ed-add">
      <label for=${a}>Further field of the ${s}</label>
      <input id=${a} value=${r} onInput=${_=>i(_.target.value)}
        onKeyDown=${_=>_.key==="Enter"&&u()} />
      <button onClick=${u} disabled=${!f||f in t}>Add field</button>
    </div>`}function Vt({noun:t,n:e,place:n,where:o,change:s,onPlace:r,blank:i,copyName:a,isReadOnly:c}){let f=async(_,p,l,$)=>{await s(_,[...o,p],l)&&r($)},u=async()=>{if(!await s("copy",[...o,n]))return;let[_,p]=a(n);await s("set",[...o,n+1,_],p),r(n+1)};return c?null:d`
    <fieldset class="ed-tools" aria-label=${`Change the list of ${t==="criterion"?"criteria":"cases"}`}>
      <button onClick=${()=>f("insert",e?n:-1,i(),e?n+1:0)}>Add</button>
      <button disabled=${!e} onClick=${u}>Duplicate</button>
      <button disabled=${n<1} onClick=${()=>f("move",n,-1,n-1)} aria-label="Move up">↑</button>
      <button disabled=${n>=e-1} onClick=${()=>f("move",n,1,n+1)} aria-label="Move down">↓</button>
      <button disabled=${!e} onClick=${()=>f("remove",n,null,Math.max(0,Math.min(n,e-2)))}>Delete</button>
    </fieldset>`}function zt({label:t,items:e,place:n,onPlace:o}){let s=I(null);return d`
    <ul class="ed-items" ref=${s} aria-label=${t} onKeyDown=${i=>{let a={ArrowDown:1,ArrowUp:-1}[i.key];if(!a)return;i.preventDefault();let c=[...s.current.querySelectorAll("button")],f=c[c.indexOf(document.activeElement)+a];f?.focus(),f?.click()}}>
      ${e.map(i=>d`
        <li key=${i.place}>
          <button aria-current=${i.place===n?"true":null} onClick=${()=>o(i.place)}>
            <strong><bdi>${i.name}</bdi></strong>
            ${i.tags?.map(a=>d`<span class="ed-tag"><bdi>${a}</bdi></span>`)}
            <span class="note" dir="auto">${i.words}</span>
          </button>
        </li>`)}
    </ul>`}function Yt(t){let e=typeof t=="string"?t:JSON.stringify(t)??"";return e.length>qt?`${e.slice(0,qt)}…`:e}function we(t,e){for(let n=2;;n++)if(!e.includes(`${t}-${n}`))return`${t}-${n}`}function Jt(t){return Array.isArray(t)?t.filter(e=>typeof e=="string"):[]}function Gt({file:t,caseId:e,onCase:n,change:o,isReadOnly:s}){let[r,i]=x(""),[a,c]=x(null),f=B(),u=t.cases_at,_=(u.length?t.data[u[0]]:t.data).map(v=>v&&typeof v=="object"&&!Array.isArray(v)?v:{}),p=(v,C)=>Object.keys(t.aliases).find(P=>t.aliases[P]===C&&P in v&&!(C in v))??C,l=_.map(v=>String(v[p(v,"id")]??"")),$=e===null?0:Math.max(0,l.indexOf(e)),h=Math.min(a&&l[a.place]===(a.id??l[a.place])?a.place:$,Math.max(0,_.length-1)),b=v=>{c({place:v}),n(l[v]??null)},y=v=>v[p(v,"input")],m=r.trim().toLowerCase(),w=_.map((v,C)=>({place:C,name:l[C]||"(no id)",words:Yt(y(v)),tags:Jt(v.tags)})).filter(v=>!m||`${v.name} ${v.words} ${v.tags.join(" ")}`.toLowerCase().includes(m)),g=_[h],T=[...u,h],E=v=>C=>o("set",[...T,v],C),W=v=>v in g?()=>o("remove",[...T,v]):null,D=["tags",...["id","input","reference","context"].map(v=>g?p(g,v):v)];return d`
    <div class="ed-list">
      <div class="ed-field">
        <label for=${f}>Find a case</label>
        <input id=${f} type="search" value=${r} onInput=${v=>i(v.target.value)} />
      </div>
      <p class="note" role="status">${w.length===_.length?`${_.length} cases`:`${w.length} of ${_.length} cases`}${w.length>Ye?`, the first ${Ye} are listed`:""}</p>
      <${Vt} noun="case" n=${_.length} place=${h} where=${u} change=${o} isReadOnly=${s} onPlace=${v=>c({place:v})}
        blank=${()=>({id:we("case",l),input:""})} copyName=${v=>["id",we(l[v],l)]} />
      <${zt} label="Cases" items=${w.slice(0,Ye)} place=${h} onPlace=${b} />
    </div>
    ${g&&d`
      <fieldset class="ed-fields" disabled=${s} aria-label=${`Case ${l[h]}`} key=${`${h} of ${_.length}`}>
        <p class="note">Line ${t.lines[h]}</p>
        <${H} label="id" value=${l[h]} hint="Names results and stored judgments."
          onCommit=${async v=>{await o("set",[...T,p(g,"id")],v)&&(c({place:h}),n(v))}} />
        <${Z} label=${p(g,"input")} value=${y(g)} lines=${5} onCommit=${E(p(g,"input"))} />
        ${["reference","context"].map(v=>d`
          <${Z} key=${v} label=${p(g,v)} value=${g[p(g,v)]} lines=${3}
            onCommit=${E(p(g,v))} onRemove=${W(p(g,v))} />`)}
        <${H} label="tags" value=${Jt(g.tags).join(", ")} hint="Separated by commas."
          onCommit=${v=>E("tags")(v.split(",").map(C=>C.trim()).filter(Boolean))} />
        <${Ge} data=${g} known=${D} where=${T} change=${o} noun="case" />
      </fieldset>`}`}var An=["name","question","scoring_guide","scale","weight","required","pass_value"];function Xt({data:t,change:e,isReadOnly:n}){let[o,s]=x(0),r=t.criteria.map(l=>l&&typeof l=="object"?l:{}),i=Math.min(o,Math.max(0,r.length-1)),a=r.map(l=>String(l.name??"")),c=r[i],f=["criteria",i],u=l=>$=>e("set",[...f,l],$),_=l=>l in c?()=>e("remove",[...f,l]):null,p=l=>$=>e("set",[l],$);return d`
    <div class="ed-list">
      <fieldset disabled=${n} aria-label="Rubric">
      <${H} label="Name of the rubric" value=${String(t.name??"")} onCommit=${p("name")} />
      <${ye} label="pass_threshold" value=${t.pass_threshold} hint="The least overall value that passes, 0 to 1."
        onCommit=${p("pass_threshold")} onRemove=${"pass_threshold"in t?()=>e("remove",["pass_threshold"]):null} />
      </fieldset>
      <${Vt} noun="criterion" n=${r.length} place=${i} where=${["criteria"]} change=${e} isReadOnly=${n} onPlace=${s}
        blank=${()=>({name:we("criterion",a),question:""})} copyName=${l=>["name",we(a[l],a)]} />
      <${zt} label="Criteria" items=${r.map((l,$)=>({place:$,name:a[$]||"(no name)",words:Yt(l.question??"")}))}
        place=${i} onPlace=${s} />
    </div>
    ${c&&d`
      <fieldset class="ed-fields" disabled=${n} aria-label=${`Criterion ${a[i]}`} key=${`${i} of ${r.length}`}>
        <${H} label="name" value=${a[i]} onCommit=${u("name")} />
        <${Z} label="question" value=${c.question} lines=${3} onCommit=${u("question")} />
        <${Fn} scale=${c.scale} where=${[...f,"scale"]} change=${e} />
        <${Z} label="scoring_guide" value=${c.scoring_guide} lines=${3} onCommit=${u("scoring_guide")} onRemove=${_("scoring_guide")} />
        <div class="ed-row">
          <${ye} label="weight" value=${c.weight} hint="Its share in the overall value; 1 if missing." onCommit=${u("weight")} onRemove=${_("weight")} />
          <${ye} label="pass_value" value=${c.pass_value} hint="The least value that passes, 0 to 1." onCommit=${u("pass_value")} onRemove=${_("pass_value")} />
          <${Rn} label="required" value=${c.required===!0} onCommit=${u("required")} />
        </div>
        <${Ge} data=${c} known=${An} where=${f} change=${e} noun="criterion" />
      </fieldset>`}`}function Rn({label:t,value:e,onCommit:n}){let[o,s]=Bt(e,n);return d`<label class="ed-check"><input type="checkbox" checked=${o}
    onChange=${r=>s(r.target.checked)} /> ${t}</label>`}function Fn({scale:t,where:e,change:n}){return Array.isArray(t)&&t.every(s=>s&&typeof s=="object"&&"value"in s)?d`
    <fieldset class="ed-levels">
      <legend>scale</legend>
      ${t.map((s,r)=>d`
        <div class="ed-level" key=${`${r} of ${t.length}`}>
          <${ye} label=${`Value ${r+1}`} value=${s.value} onCommit=${i=>n("set",[...e,r,"value"],i)} />
          <${H} label="Anchor" value=${String(s.description??"")} lines=${2} onCommit=${i=>n("set",[...e,r,"description"],i)} />
          <button aria-label=${`Remove level ${s.value}`} title="Remove" disabled=${t.length<3} onClick=${()=>n("remove",[...e,r])}>×</button>
        </div>`)}
      <button onClick=${()=>n("insert",[...e,t.length-1],{value:Hn(t),description:""})}>Add level</button>
    </fieldset>`:d`<${Z} label="scale" value=${t} lines=${1} onCommit=${s=>n("set",e,s)}
      hint='The name of a scale, such as likert5; or JSON: a list of levels, each with a value and a description.' />`}function Hn(t){let e=t.map(o=>Number(o.value)).filter(Number.isFinite),n=e.at(-1)??0;return e.length>1&&e[0]>n?n-1:n+1}var Un=["name","dataset","rubric","profile","cases"];function Qt({data:t,profiles:e,change:n,isReadOnly:o}){let s=c=>f=>n("set",[c],f),r=c=>c in t?()=>n("remove",[c]):null,[i,a]=Bt(t.profile??"",c=>c?n("set",["profile"],c):n("remove",["profile"]));return d`
    <fieldset class="ed-fields" disabled=${o} aria-label="Suite">
      <${H} label="name" value=${String(t.name??"")} onCommit=${s("name")} />
      ${["dataset","rubric"].map(c=>d`
        <${Z} key=${c} label=${c} value=${t[c]} lines=${1} onCommit=${s(c)} onRemove=${r(c)} />`)}
      <fieldset class="ed-profiles">
        <legend>profile</legend>
        <p class="note">The kind of skill. It sets how a case without an evaluation of its own is evaluated: the first strategy whose expectation the case has.</p>
        <div class="wide"><table>
          <thead><tr><th scope="col">profile</th><th scope="col">strategies</th><th scope="col">threshold</th><th scope="col">rubric</th></tr></thead>
          <tbody>
            ${[{name:"",strategies:"assertions, and the rubric if there is a judge",threshold:"–",rubric:null},...e].map(c=>d`
              <tr key=${c.name}>
                <th scope="row"><label class="ed-check"><input type="radio" name="profile" value=${c.name}
                  checked=${i===c.name} onChange=${()=>a(c.name)} /> ${c.name||"none"}</label></th>
                <td>${c.strategies}</td><td>${c.threshold}</td><td>${c.rubric??"–"}</td>
              </tr>`)}
          </tbody>
        </table></div>
      </fieldset>
      <${Ge} data=${t} known=${Un} where=${[]} change=${n} noun="suite" />
    </fieldset>`}var qn=600,ke="\0typed",Zt=new Set(["suite","rubric","cases","template","partial","outputs"]);function Kt({path:t,file:e,listing:n,caseId:o,onCase:s,isReadOnly:r}){let i=n.files.filter(C=>C.kind==="suite").map(C=>C.path),[a,c]=x(i.includes(t)?t:i[0]),[f,u]=x(null),[_,p]=x(""),[l,$]=x(""),[h,b]=x(null),[y,m]=x(""),w=I(0),g=f===ke,T={case_id:o,variant:g?null:f,output:g?_:null,model:l.trim()||null},E={path:t,text:e.text,suite:a,settings:T},W=JSON.stringify(E),D=async C=>{try{let P=await F("/api/edit/preview",E);if(C!==w.current)return;P.error||b({...P,key:W}),m(P.error??"")}catch(P){if(C!==w.current)return;m(P.message)}};if(M(()=>{let C=++w.current;if(!a||!Zt.has(e.kind))return;let P=setTimeout(()=>D(C),h||y?qn:0);return()=>clearTimeout(P)},[W,e.kind]),!Zt.has(e.kind))return null;if(!a)return d`<aside class="ed-preview" aria-label="Preview"><h2>Preview</h2>
      <p class="note">Prompts are shown with a suite, which names the judge: there is none in this folder. <code>judgekit init</code> makes one.</p></aside>`;let v=h?.key===W;return d`
    <aside class="ed-preview" aria-label="Preview" aria-busy=${!v&&!y}>
      <h2>What the judge reads</h2>
      <div class="ed-choices">
        ${i.length>1&&d`<${Xe} label="Suite" value=${a} options=${i} onChoose=${c} />`}
        ${h&&d`
          <${Xe} label="Case" value=${h.case_id} options=${h.cases} onChoose=${s} />
          <${Xe} label="Output" value=${f??h.variant??ke} onChoose=${u}
            options=${[...h.variants,ke]} names=${{[ke]:"typed here"}} />
          <${Jn} judges=${h.judges} model=${l} onModel=${$} />`}
      </div>
      ${g&&d`<${Bn} text=${_} onText=${p} />`}
      ${y&&d`<p class="ed-narrow">No preview: <bdi>${y}</bdi></p>`}
      ${h&&!y&&d`
        ${h.notes.map(C=>d`<p class="note">${C}</p>`)}
        <${zn} body=${E} preview=${h} isCurrent=${v&&!y} isReadOnly=${r} />
        ${!g&&h.variant&&d`<details><summary>Output of ${h.variant}</summary><pre dir="auto">${h.output}</pre></details>`}
        ${h.requests.map((C,P)=>d`<${Vn} key=${P} request=${C} isOpen=${P===0} />`)}`}
    </aside>`}function Xe({label:t,value:e,options:n,names:o={},onChoose:s}){let r=B();return d`<div class="ed-field">
    <label for=${r}>${t}</label>
    <select id=${r} value=${e} onChange=${i=>s(i.target.value)}>
      ${n.map(i=>d`<option key=${i} value=${i} selected=${i===e}>${o[i]??i}</option>`)}
    </select></div>`}function Jn({judges:t,model:e,onModel:n}){let o=B();return d`<div class="ed-field">
    <label for=${o}>Model</label>
    <input id=${o} value=${e} placeholder=${t.join(", ")||"none"} onChange=${s=>n(s.target.value)} />
  </div>`}function Bn({text:t,onText:e}){let n=B();return d`<div class="ed-field">
    <label for=${n}>Output to judge</label>
    <textarea id=${n} rows="4" value=${t} onInput=${o=>e(o.target.value)} />
  </div>`}function Vn({request:t,isOpen:e}){let n=t.repeat?`, repeat ${t.repeat+1}`:"";return d`
    <details open=${e}>
      <summary><strong>${t.criterion??"all criteria"}</strong>${n}: ${t.tokens}, ${t.price}</summary>
      <p class="note">${t.judge}; tokens counted by ${t.token_source}</p>
      ${t.messages.map(o=>d`
        <h3>${o.role}</h3>
        <pre class="ed-prompt" dir="auto">${o.content}</pre>`)}
    </details>`}function zn({body:t,preview:e,isCurrent:n,isReadOnly:o}){let[s,r]=x("ready"),[i,a]=x(null),[c,f]=x("");M(()=>{r("ready"),a(null),f("")},[e.calls_key]);let u=async()=>{r("running"),f("");try{let l=await F("/api/edit/preview",{...t,calls_key:e.calls_key});l.error?f(l.error):a(l)}catch(l){f(l.message)}r("ready")},_=I(null);M(()=>{s==="confirm"&&_.current.focus()},[s]);let p=e.n_calls===0||e.price.includes("not recorded");return o?d`<p><strong>${e.price}</strong></p>`:d`
    <div class="ed-trial">
      <p><strong>${e.price}</strong></p>
      ${e.refusal&&d`<p class="note">${e.refusal}</p>`}
      <p><button disabled=${!!e.refusal||!n||s==="running"} aria-expanded=${p?null:String(s==="confirm")}
        onClick=${()=>p?u():r("confirm")}>${s==="running"?"Judging …":p?"Try: free":"Try …"}</button></p>
      ${s==="confirm"&&d`
        <div class="ed-price" role="group" aria-label="Confirm the price" tabindex="-1" ref=${_}>
          <p>This makes ${e.price}.</p>
          <button class="ed-confirm" onClick=${u}>Confirm and judge</button>${" "}
          <button onClick=${()=>r("ready")}>Cancel</button>
        </div>`}
      <div role="status">${c&&d`<p class="error">${c}</p>`}${i&&d`<${Yn} result=${i} />`}</div>
    </div>`}function Yn({result:t}){return d`
    <p class=${`conclusion ${t.tone}`}>${t.conclusion}</p>
    ${t.notes.map(e=>d`<p class="error">${e}</p>`)}
    ${t.judgments.map(e=>d`
      <section class="ed-judgment">
        <h3>${e.criterion}: ${e.raw} <span class="note">value ${e.value.toFixed(2)}, ${e.cached?"cached":e.cost_usd===null?"price unknown":`$${e.cost_usd?e.cost_usd.toPrecision(2):0}`}${e.confidence===null?"":`, confidence ${e.confidence}`}</span></h3>
        <p class="note">${e.judge}</p>
        <p dir="auto">${e.rationale}</p>
        ${e.evidence.map(n=>d`<blockquote dir="auto">${n.quote}${!n.match&&d` <span class="fail">! not in the output</span>`}</blockquote>`)}
      </section>`)}`}var V=class{diff(e,n,o={}){let s;typeof o=="function"?(s=o,o={}):"callback"in o&&(s=o.callback);let r=this.castInput(e,o),i=this.castInput(n,o),a=this.removeEmpty(this.tokenize(r,o)),c=this.removeEmpty(this.tokenize(i,o));return this.diffWithOptionsObj(a,c,o,s)}diffWithOptionsObj(e,n,o,s){var r;let i=m=>{if(m=this.postProcess(m,o),s){setTimeout(function(){s(m)},0);return}else return m},a=n.length,c=e.length,f=1,u=a+c;o.maxEditLength!=null&&(u=Math.min(u,o.maxEditLength));let _=(r=o.timeout)!==null&&r!==void 0?r:1/0,p=Date.now()+_,l=[{oldPos:-1,lastComponent:void 0}],$=this.extractCommon(l[0],n,e,0,o);if(l[0].oldPos+1>=c&&$+1>=a)return i(this.buildValues(l[0].lastComponent,n,e));let h=-1/0,b=1/0,y=()=>{for(let m=Math.max(h,-f);m<=Math.min(b,f);m+=2){let w,g=l[m-1],T=l[m+1];g&&(l[m-1]=void 0);let E=!1;if(T){let D=T.oldPos-m;E=T&&0<=D&&D<a}let W=g&&g.oldPos+1<c;if(!E&&!W){l[m]=void 0;continue}if(!W||E&&g.oldPos<T.oldPos?w=this.addToPath(T,!0,!1,0,o):w=this.addToPath(g,!1,!0,1,o),$=this.extractCommon(w,n,e,m,o),w.oldPos+1>=c&&$+1>=a)return i(this.buildValues(w.lastComponent,n,e))||!0;l[m]=w,w.oldPos+1>=c&&(b=Math.min(b,m-1)),$+1>=a&&(h=Math.max(h,m+1))}f++};if(s)(function m(){setTimeout(function(){if(f>u||Date.now()>p)return s(void 0);y()||m()},0)})();else for(;f<=u&&Date.now()<=p;){let m=y();if(m)return m}}addToPath(e,n,o,s,r){let i=e.lastComponent;return i&&!r.oneChangePerToken&&i.added===n&&i.removed===o?{oldPos:e.oldPos+s,lastComponent:{count:i.count+1,added:n,removed:o,previousComponent:i.previousComponent}}:{oldPos:e.oldPos+s,lastComponent:{count:1,added:n,removed:o,previousComponent:i}}}extractCommon(e,n,o,s,r){let i=n.length,a=o.length,c=e.oldPos,f=c-s,u=0;for(;f+1<i&&c+1<a&&this.equals(o[c+1],n[f+1],r);)f++,c++,u++,r.oneChangePerToken&&(e.lastComponent={count:1,previousComponent:e.lastComponent,added:!1,removed:!1});return u&&!r.oneChangePerToken&&(e.lastComponent={count:u,previousComponent:e.lastComponent,added:!1,removed:!1}),e.oldPos=c,f}equals(e,n,o){return o.comparator?o.comparator(e,n):e===n||!!o.ignoreCase&&e.toLowerCase()===n.toLowerCase()}removeEmpty(e){let n=[];for(let o=0;o<e.length;o++)e[o]&&n.push(e[o]);return n}castInput(e,n){return e}tokenize(e,n){return Array.from(e)}join(e){return e.join("")}postProcess(e,n){return e}get useLongestToken(){return!1}buildValues(e,n,o){let s=[],r;for(;e;)s.push(e),r=e.previousComponent,delete e.previousComponent,e=r;s.reverse();let i=s.length,a=0,c=0,f=0;for(;a<i;a++){let u=s[a];if(u.removed)u.value=this.join(o.slice(f,f+u.count)),f+=u.count;else{if(!u.added&&this.useLongestToken){let _=n.slice(c,c+u.count);_=_.map(function(p,l){let $=o[f+l];return $.length>p.length?$:p}),u.value=this.join(_)}else u.value=this.join(n.slice(c,c+u.count));c+=u.count,u.added||(f+=u.count)}}return s}};function Qe(t,e){let n;for(n=0;n<t.length&&n<e.length;n++)if(t[n]!=e[n])return t.slice(0,n);return t.slice(0,n)}function Ze(t,e){let n;if(!t||!e||t[t.length-1]!=e[e.length-1])return"";for(n=0;n<t.length&&n<e.length;n++)if(t[t.length-(n+1)]!=e[e.length-(n+1)])return t.slice(-n);return t.slice(-n)}function xe(t,e,n){if(t.slice(0,e.length)!=e)throw Error(`string ${JSON.stringify(t)} doesn't start with prefix ${JSON.stringify(e)}; this is a bug`);return n+t.slice(e.length)}function Ce(t,e,n){if(!e)return t+n;if(t.slice(-e.length)!=e)throw Error(`string ${JSON.stringify(t)} doesn't end with suffix ${JSON.stringify(e)}; this is a bug`);return t.slice(0,-e.length)+n}function ee(t,e){return xe(t,e,"")}function le(t,e){return Ce(t,e,"")}function Ke(t,e){return e.slice(0,Gn(t,e))}function Gn(t,e){let n=0;t.length>e.length&&(n=t.length-e.length);let o=e.length;t.length<e.length&&(o=t.length);let s=Array(o),r=0;s[0]=0;for(let i=1;i<o;i++){for(e[i]==e[r]?s[i]=s[r]:s[i]=r;r>0&&e[i]!=e[r];)r=s[r];e[i]==e[r]&&r++}r=0;for(let i=n;i<t.length;i++){for(;r>0&&t[i]!=e[r];)r=s[r];t[i]==e[r]&&r++}return r}function et(t,e){let n=[];for(let o of Array.from(e.segment(t))){let s=o.segment;n.length&&/\s/.test(n[n.length-1])&&/\s/.test(s)?n[n.length-1]+=s:n.push(s)}return n}function Se(t,e){if(e)return te(t,e)[1];let n;for(n=t.length-1;n>=0&&t[n].match(/\s/);n--);return t.substring(n+1)}function K(t,e){if(e)return te(t,e)[0];let n=t.match(/^\s*/);return n?n[0]:""}function te(t,e){if(!e)return[K(t),Se(t)];if(e.resolvedOptions().granularity!="word")throw new Error('The segmenter passed must have a granularity of "word"');let n=et(t,e),o=n[0],s=n[n.length-1],r=/\s/.test(o)?o:"",i=/\s/.test(s)?s:"";return[r,i]}var Pe="a-zA-Z0-9_\\u{AD}\\u{C0}-\\u{D6}\\u{D8}-\\u{F6}\\u{F8}-\\u{2C6}\\u{2C8}-\\u{2D7}\\u{2DE}-\\u{2FF}\\u{1E00}-\\u{1EFF}",Xn=new RegExp(`[${Pe}]+|\\s+|[^${Pe}]`,"ug"),tt=class extends V{equals(e,n,o){return o.ignoreCase&&(e=e.toLowerCase(),n=n.toLowerCase()),e.trim()===n.trim()}tokenize(e,n={}){let o;if(n.intlSegmenter){let i=n.intlSegmenter;if(i.resolvedOptions().granularity!="word")throw new Error('The segmenter passed must have a granularity of "word"');o=et(e,i)}else o=e.match(Xn)||[];let s=[],r=null;return o.forEach(i=>{/\s/.test(i)?r==null?s.push(i):s.push(s.pop()+i):r!=null&&/\s/.test(r)?s[s.length-1]==r?s.push(s.pop()+i):s.push(r+i):s.push(i),r=i}),s}join(e){return e.map((n,o)=>o==0?n:n.replace(/^\s+/,"")).join("")}postProcess(e,n){if(!e||n.oneChangePerToken)return e;let o=null,s=null,r=null;return e.forEach(i=>{i.added?s=i:i.removed?r=i:((s||r)&&en(o,r,s,i,n.intlSegmenter),o=i,s=null,r=null)}),(s||r)&&en(o,r,s,null,n.intlSegmenter),e}},Qn=new tt;function en(t,e,n,o,s){if(e&&n){let[r,i]=te(e.value,s),[a,c]=te(n.value,s);if(t){let f=Qe(r,a);t.value=Ce(t.value,a,f),e.value=ee(e.value,f),n.value=ee(n.value,f)}if(o){let f=Ze(i,c);o.value=xe(o.value,c,f),e.value=le(e.value,f),n.value=le(n.value,f)}}else if(n){if(t){let r=K(n.value,s);n.value=n.value.substring(r.length)}if(o){let r=K(o.value,s);o.value=o.value.substring(r.length)}}else if(t&&o){let r=K(o.value,s),[i,a]=te(e.value,s),c=Qe(r,i);e.value=ee(e.value,c);let f=Ze(ee(r,c),a);e.value=le(e.value,f),o.value=xe(o.value,r,f),t.value=Ce(t.value,r,r.slice(0,r.length-f.length))}else if(o){let r=K(o.value,s),i=Se(e.value,s),a=Ke(i,r);e.value=le(e.value,a)}else if(t){let r=Se(t.value,s),i=K(e.value,s),a=Ke(r,i);e.value=ee(e.value,a)}}var nt=class extends V{tokenize(e){let n=new RegExp(`(\\r?\\n)|[${Pe}]+|[^\\S\\n\\r]+|[^${Pe}]`,"ug");return e.match(n)||[]}},tn=new nt;function ot(t,e,n){return tn.diff(t,e,n)}var rt=class extends V{constructor(){super(...arguments),this.tokenize=Zn}equals(e,n,o){return o.ignoreWhitespace?((!o.newlineIsToken||!e.includes(`
`))&&(e=e.trim()),(!o.newlineIsToken||!n.includes(`
`))&&(n=n.trim())):o.ignoreNewlineAtEof&&!o.newlineIsToken&&(e.endsWith(`
`)&&(e=e.slice(0,-1)),n.endsWith(`
`)&&(n=n.slice(0,-1))),super.equals(e,n,o)}},nn=new rt;function st(t,e,n){return nn.diff(t,e,n)}function Zn(t,e){e.stripTrailingCr&&(t=t.replace(/\r\n/g,`
`));let n=[],o=t.split(/(\n|\r\n)/);o[o.length-1]||o.pop();for(let s=0;s<o.length;s++){let r=o[s];s%2&&!e.newlineIsToken?n[n.length-1]+=r:n.push(r)}return n}var on=3,Kn=40,rn=300;function sn({dialog:t,path:e,file:n,onSave:o,onSettle:s,onClose:r}){let i=I(null);M(()=>{i.current.showModal()},[]);let a=n.problems.filter(u=>u.severity==="error"&&u.path===e).length,c=t.kind==="conflict",f=c?t.disk.text:n.saved;return d`
    <dialog class="ed-dialog" ref=${i} onClose=${r} aria-labelledby="ed-dialog-title">
      <h2 id="ed-dialog-title">${c?"Changed on disk":`Changes to ${e}`}</h2>
      ${t.message&&d`<p class="error" role="alert">${t.message}</p>`}
      ${c?d`<p>Below: what is on disk now (−), and what you have here (+).</p>`:a>0&&d`<p class="fail">✗ With ${a} ${a===1?"error":"errors"} it cannot be used until ${a===1?"it is":"they are"} corrected.</p>`}
      <${eo} before=${f} after=${n.text} />
      <div class="ed-buttons">
        ${c?d`
              <button onClick=${()=>s(t.disk,!0)}>Keep mine, and look at the changes again</button>
              <button onClick=${()=>s(t.disk,!1)}>Discard mine, take the file on disk</button>`:d`<button class="ed-save" autofocus onClick=${o}>${a?`Save with ${a} ${a===1?"error":"errors"}`:"Save"} <kbd>Ctrl+S</kbd></button>`}
        <button onClick=${()=>i.current.close()}>Cancel</button>
      </div>
    </dialog>`}function eo({before:t,after:e}){let n=st(t,e,{timeout:rn});if(!n)return d`<p class="note">The texts have too little in common to be compared line by line.</p>`;let o=[];return n.forEach((s,r)=>{let i=s.value.replace(/\n$/,"").split(`
`);if(!s.added&&!s.removed){o.push(...to(i,r===0,r===n.length-1));return}let a=s.removed?n[r+1]:n[r-1],f=a&&(s.removed?a.added:a.removed)&&a.count===s.count&&s.count<=Kn?a.value.replace(/\n$/,"").split(`
`):[];i.forEach((u,_)=>o.push({sign:s.removed?"−":"+",line:u,other:f[_]}))}),d`
    <div class="ed-diff" tabindex="0" role="region" aria-label="Changed lines">
      ${o.map(s=>{if(s.folded)return d`<div class="ed-fold">${s.folded} unchanged lines</div>`;if(!s.sign)return d`<div><span>  </span>${s.line}</div>`;let r=s.sign==="+"?"ins":"del";return d`<${r} class="ed-line"><span class="hidden">${s.sign==="+"?"added: ":"removed: "}</span><span aria-hidden="true">${s.sign} </span><${no} row=${s} /></${r}>`})}
    </div>`}function to(t,e,n){let o=e?0:on,s=n?0:on;return t.length<=o+s+1?t.map(r=>({line:r})):[...t.slice(0,o).map(r=>({line:r})),{folded:t.length-o-s},...s?t.slice(-s).map(r=>({line:r})):[]]}function no({row:t}){let e=t.sign==="+",n=t.other===void 0?null:ot(e?t.other:t.line,e?t.line:t.other,{timeout:rn});return n?n.filter(o=>e?!o.removed:!o.added).map(o=>o.added||o.removed?d`<mark>${o.value}</mark>`:o.value):t.line}var oo=300,ro="/edit",so=/^\/edit(?:\/(.+))?$/;function cn(){let t=so.exec(location.pathname),e=document.getElementById("main");if(!t||!ze()||!e)return;let n=document.createElement("div"),o=t[1]&&t[1].split("/").map(decodeURIComponent).join("/");for(;e.querySelector("h1").nextSibling;)e.querySelector("h1").nextSibling.remove();e.append(n),document.querySelector(".skip").textContent="Skip to the editor",J(d`<${io} path=${o} />`,n)}function Ee(){return new URLSearchParams(location.hash.slice(1))}function an(t){let e=Ee();for(let[n,o]of Object.entries(t))o===null?e.delete(n):e.set(n,o);history.replaceState(null,"",`#${e}`)}function un(){let t=matchMedia("(max-width: 44rem)"),[e,n]=x(t.matches);return M(()=>{let o=()=>n(t.matches);return t.addEventListener("change",o),()=>t.removeEventListener("change",o)},[]),e}function io({path:t}){let[e,n]=x(null),[o,s]=x(""),r=()=>F("/api/edit/files",{}).then(n,c=>s(c.message));M(()=>{r()},[]);let i=un();if(o)return d`<p class="error" role="alert">${o}</p>`;if(!t)return d`<${ao} listing=${e} />`;let a=d`<${lo} listing=${e} path=${t} />`;return d`
    <div class="editor">
      <nav class="ed-files" aria-label="Files" aria-busy=${!e}>
        ${i?d`<details><summary>Files of ${e?.folder}</summary>${a}</details>`:a}
      </nav>
      <div class="ed-work"><${co} path=${t} listing=${e} onSaved=${r} /></div>
    </div>`}function ao({listing:t}){return t?t.files.length?d`
    <p>Each change is checked as <code>judgekit validate</code> and <code>judgekit lint</code> check it; nothing is written before you save.</p>
    <div class="wide"><table>
      <thead><tr><th scope="col">file</th><th scope="col">type</th><th scope="col">problems</th></tr></thead>
      <tbody>
        ${t.files.map(e=>d`
          <tr key=${e.path}>
            <th scope="row"><a href=${it(e.path)}><bdi>${e.path}</bdi></a></th>
            <td>${e.kind}</td>
            <td>${e.n_errors||e.n_warnings?d`<${fn} file=${e} />`:d`<span class="pass">✓ none</span>`}</td>
          </tr>`)}
      </tbody>
    </table></div>
    <${dn} files=${t.files} />`:d`<p>There are no files of judgekit in this folder. <code>judgekit init</code> makes a suite to begin with.</p>`:d`<p class="note" aria-busy="true">Reading the folder …</p>`}function dn({files:t}){let e=t.find(n=>n.command);return e&&d`<p class="note">To run it: <code>${e.command}</code></p>`}function lo({listing:t,path:e}){return t?d`
    <p class="ed-folder"><a href=${ro}>${t.folder}</a></p>
    <ul>
      ${t.files.map(n=>d`
        <li key=${n.path}>
          <a href=${it(n.path)} aria-current=${n.path===e?"page":null}><bdi>${n.path}</bdi></a>
          <span class="note">${n.kind} <${fn} file=${n} /></span>
        </li>`)}
    </ul>
    <${dn} files=${t.files} />`:d`<p class="note">Reading the folder …</p>`}function fn({file:t}){let e=[];return t.n_errors&&e.push(d`<span class="fail">✗ ${ln(t.n_errors,"error")}</span>`),t.n_warnings&&e.push(d`<span class="inconclusive">! ${ln(t.n_warnings,"warning")}</span>`),e}function ln(t,e){return`${t} ${e}${t===1?"":"s"}`}function it(t){return`/edit/${t.split("/").map(encodeURIComponent).join("/")}`}function co({path:t,listing:e,onSaved:n}){let[o,s]=x(null),r=I(null),[i,a]=x(""),[c,f]=x(Ee().get("view")),[u,_]=x(Ee().get("case")),[p,l]=x(null),[$,h]=x(""),[b,y]=x(null),m=I({timer:0,number:0}),w=I(Promise.resolve()),g=I(null),T=un(),E=k=>s(r.current={...r.current,...k}),W=async()=>{try{let k=await F("/api/edit/open",{path:t});E({...k,saved:k.text});let L=Number(Ee().get("line"));L&&at(L)}catch(k){a(k.message)}};M(()=>{W()},[t]);let D=!!(o&&o.text!==o.saved);M(()=>{if(document.title=`${D?"* ":""}${t}`,!D)return;let k=L=>L.preventDefault();return addEventListener("beforeunload",k),()=>removeEventListener("beforeunload",k)},[D]);let v=async()=>{let k=++m.current.number,{text:L}=r.current;try{let z=await F("/api/edit/check",{path:t,text:L});k===m.current.number&&L===r.current.text&&E(z),a("")}catch(z){a(z.message)}},C=k=>{h(""),E({text:k}),clearTimeout(m.current.timer),m.current.timer=setTimeout(v,oo)},P=(k,L,z=null)=>{let ue=w.current.then(async()=>{let A,dt;do A=r.current.text,dt=await F("/api/edit/change",{path:t,text:A,kind:k,where:L,value:z});while(A!==r.current.text);m.current.number++,E(dt),a(""),h("")});return w.current=ue.catch(A=>a(A.message)),ue.then(()=>!0,()=>!1)},R=k=>{f(k),an({view:k})},j=k=>{_(k),an({case:k})},at=k=>{R("text"),y({line:k})},lt=!!o&&!o.is_recorded&&!T,ct=async()=>{lt&&(g.current=document.activeElement,g.current?.blur(),clearTimeout(m.current.timer),await w.current,await v(),r.current.text===r.current.saved?h("There are no changes to save."):l({kind:"save"}))},Ne=()=>{l(null),g.current?.focus()},ut=async()=>{let{text:k,version:L,problems:z}=r.current,ue=z.some(A=>A.severity==="error");try{let A=await F("/api/edit/save",{path:t,text:k,version:L,allow_errors:ue});E({saved:k,version:A.version}),Ne(),h("Saved."),n()}catch(A){A instanceof Q&&A.status===409?l({kind:"conflict",disk:A.reply,message:A.message}):l({kind:"save",message:A.message})}},hn=(k,L)=>{E({saved:k.text,version:k.version}),Ne(),L||E({text:k.text}),v()};if(M(()=>{let k=L=>{!(L.ctrlKey||L.metaKey)||L.key.toLowerCase()!=="s"||(L.preventDefault(),p?.kind==="save"?ut():p||ct())};return addEventListener("keydown",k),()=>removeEventListener("keydown",k)}),!o)return i?d`<p class="error" role="alert">${i}</p>`:d`<p class="note" aria-busy="true">Opening …</p>`;let ce=o.is_recorded||T,Me=uo(o),ne=Me.some(k=>k.name===c)?c:Me[0].name,$n=o.problems.filter(k=>k.path===t);return d`
    <div class="ed-bar">
      <div role="group" aria-label="View" class="ed-views">
        ${Me.map(k=>d`<button aria-pressed=${String(k.name===ne)} onClick=${()=>R(k.name)}>${k.label}</button>`)}
      </div>
      <span class="ed-state" role="status">${$||(D?"Not saved":"")}</span>
      ${lt&&d`<button class="ed-save" disabled=${!D} onClick=${ct}>Save … <kbd>Ctrl+S</kbd></button>`}
    </div>
    ${T&&d`<p class="ed-narrow">This window is too narrow for editing: files can be read here, and edited in a wider one.</p>`}
    ${o.is_recorded&&d`<p class="ed-narrow">This file holds recorded ${o.kind==="recorded replies"?"replies":"results"}: it can be read, but not edited.</p>`}
    ${i&&d`<p class="error" role="alert">${i}</p>`}
    <${_o} file=${o} path=${t} onJump=${at} />
    <div class="ed-panes">
      <div class="ed-pane">
        ${ne==="text"?d`<${Ut} path=${t} text=${o.text} problems=${$n} isReadOnly=${ce} target=${b} onInput=${C} />`:d`<div class="ed-form">
              ${ne==="cases"&&d`<${Gt} file=${o} caseId=${u} onCase=${j} change=${P} isReadOnly=${ce} />`}
              ${ne==="rubric"&&d`<${Xt} data=${o.data} change=${P} isReadOnly=${ce} />`}
              ${ne==="suite"&&d`<${Qt} data=${o.data} profiles=${o.profiles} change=${P} isReadOnly=${ce} />`}
            </div>`}
      </div>
      ${e&&d`<${Kt} path=${t} file=${o} listing=${e} caseId=${u} onCase=${j} isReadOnly=${T} />`}
    </div>
    ${p&&d`<${sn} dialog=${p} path=${t} file=${o}
      onSave=${ut} onSettle=${hn} onClose=${Ne} />`}
  `}function uo(t){let e=[];return t.form==="rubric"&&Array.isArray(t.data?.criteria)&&e.push({name:"rubric",label:"Criteria"}),t.form==="suite"&&e.push({name:"suite",label:"Suite"}),t.cases_at&&e.push({name:"cases",label:"Cases"}),[...e,{name:"text",label:"Text"}]}var fo={error:"✗",warning:"!"};function _o({file:t,path:e,onJump:n}){let o=I(null);ae(()=>{o.current.textContent!==t.summary&&(o.current.textContent=t.summary)},[t.summary]);let s=t.problems.some(r=>r.severity==="error")?"fail":t.problems.length?"inconclusive":"pass";return d`
    <section class=${`ed-problems ${s}`} aria-label="Problems">
      <p><span>${t.kind}: </span><strong role="status" ref=${o}></strong></p>
      ${t.problems.length>0&&d`
        <ul>
          ${t.problems.map(r=>d`
            <li>
              <span class=${r.severity==="error"?"fail":"inconclusive"}>${fo[r.severity]} ${r.severity}</span>${" "}
              <${po} problem=${r} path=${e} onJump=${n} />${" "}
              <bdi>${r.message}</bdi>${r.remedy&&d` <span class="note">(${r.remedy})</span>`}
              ${r.rule&&d` <code>${r.rule}</code>`}
            </li>`)}
        </ul>`}
    </section>`}function po({problem:t,path:e,onJump:n}){let o=t.line===null?"":`line ${t.line}`;if(t.path===e)return o&&d`<button class="ed-link" onClick=${()=>n(t.line)}>${o}</button>`;if(!t.path)return null;let s=t.line===null?"":`#view=text&line=${t.line}`;return d`<a href=${it(t.path)+s}><bdi>${t.path}</bdi> ${o}</a>`}var Te=2;function mo([t,e]){return`/diff?a=${encodeURIComponent(t)}&b=${encodeURIComponent(e)}`}function ho({boxes:t}){let[e,n]=x([]);for(let s of t)s.checked=e.includes(s.value),s.onchange=()=>{let r=e.filter(i=>i!==s.value);n(s.checked?[...r.slice(1-Te),s.value]:r)};let o=Te-e.length;return d`
    <div class="chosen">
      ${o===0?d`<a class="button" href=${mo(e)}>Side by side</a>`:d`<button type="button" disabled>Side by side</button>`}
      ${e.length>0&&d`
        <button type="button" onClick=${()=>n([])}>Clear</button>`}
      <span role="status">${o===Te?"Tick two rows to see them side by side.":o?`${e[0]}; tick one more row.`:`${e[0]} and ${e[1]}`}</span>
    </div>
  `}function _n(){let t=[...document.querySelectorAll("[data-choice]")];if(t.length<Te)return;let e=t.map(o=>{let s=document.createElement("input");s.type="checkbox",s.value=o.dataset.choice,s.setAttribute("aria-label",`Side by side: ${o.dataset.choice}`);let r=document.createElement("label");return r.className="tick",r.append(s),o.prepend(r),s}),n=document.createElement("div");t[0].closest(".wide").before(n),J(d`<${ho} boxes=${e} />`,n)}function $o({address:t,lines:e}){let[n,o]=x(null),[s,r]=x("");if(M(()=>{let a=new EventSource(t);return a.addEventListener("progress",c=>{let f=JSON.parse(c.data);o(f),r(""),f.lines.forEach((u,_)=>{e[_]&&(e[_].textContent=u)})}),a.addEventListener("end",()=>{a.close(),location.reload()}),a.addEventListener("problem",c=>{a.close(),r(JSON.parse(c.data).text)}),a.onerror=()=>r("judgekit view does not answer. Is it still running?"),()=>a.close()},[t]),!n)return d`<p class="note">${s||"Loading the progress …"}</p>`;let i=n.total?Math.min(1,n.done/n.total):null;return d`
    <div class="live">
      <progress aria-label="Progress of the run" max=${n.total??void 0}
        value=${i===null?void 0:Math.min(n.done,n.total)}></progress>
      <span class="live-text">${n.lines[0]}</span>
    </div>
    <p class="hidden" role="status">${vo(n,i)}</p>
    ${n.hint&&d`<p class="note">${n.hint}</p>`}
    ${s&&d`<p class="note" role="alert">${s}</p>`}
  `}function vo(t,e){return e===null?"":`${Math.floor(e*10)*10} % of ${t.total}`}function pn(){let t=document.getElementById("live");if(!t)return;let e=document.querySelectorAll("main > dl dd");J(d`<${$o} address=${t.dataset.events} lines=${e} />`,t)}var mn=Pt(),Oe=document.getElementById("cases");if(mn&&Oe){let t=Oe.querySelector("h2, h3")?.textContent??"Cases";Oe.replaceChildren(),J(d`<${Ft} index=${mn} title=${t} />`,Oe)}cn();_n();pn();})();
