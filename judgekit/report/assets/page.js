/* judgekit, with preact, htm, diff: licences in LICENSES.txt */
(()=>{var S,_t,mn,U,De,pe,pt,de,mt,We,Me,hn,oe=Symbol.for("pv"),me={},he=[],$n=/^m(i|n|o|s|text|space)$/,Ie=Array.isArray,Le=he.slice,Y=Object.assign;function z(t){t&&t.parentNode&&t.remove()}function ht(t,e,n){var o,s,r,i={},a=arguments.length;for(r in e)r=="key"?o=e[r]:r=="ref"&&typeof t!="function"?s=e[r]:i[r]=e[r];return a>2&&(i.children=a>3?Le.call(arguments,2):n),ne(t,i,o,s,null)}function ne(t,e,n,o,s){var r={type:t,props:e,key:n,ref:o,__k:null,__:null,__b:0,__e:null,__c:null,constructor:oe,__v:s||++_t,__i:-1,__u:0};return!s&&S.vnode&&S.vnode(r),r}function $e(t){return t.children}function fe(t,e){this.props=t,this.context=e,this.__g=0}function q(t,e){if(e==null)return t.__&&q(t.__,t.__i+1);for(var n;e<t.__k.length;e++)if((n=t.__k[e])&&n.__e)return n.__e;return typeof t.type!="function"||t.props.__P?null:q(t)}function vn(t){var e,n=t.__v,o=n.__e,s=[],r=[],i=t.__P;i&&((e=Y({constructor:oe},n)).__v=n.__v+1,S.vnode&&S.vnode(e),je(i,e,n,t.__n,i.namespaceURI,32&n.__u?[o]:null,s,o||q(n),32&n.__u,r),e.__v=n.__v,e.__.__k[e.__i]=e,wt(s,e,r),n.__=n.__e=null,e.__e!=o&&$t(e))}function $t(t){if((t=t.__)&&t.__c&&!t.props.__P)return t.__e=null,t.__k.some(function(e){return e&&(t.__e=e.__e)}),$t(t)}function dt(t){(8&t.__g||(t.__g|=8,U.push(t),pe++))&&De==S.debounceRendering||((De=S.debounceRendering)||queueMicrotask)(vt)}function vt(){try{for(var t,e=1;U.length;)U.length>e&&U.sort(pt),t=U.shift(),e=U.length,8&t.__g&&vn(t)}finally{(pe=U.length)&&(De||queueMicrotask)(vt)}}function gt(t,e,n,o,s,r,i,a,c,f,u){var _,p,l,$,h,y,b=o.__k||he,m=e.length;for(c=gn(n,e,b,c,m),_=0;_<m;_++)(l=n.__k[_])!=null&&(p=~l.__i&&b[l.__i]||me,l.__i=_,y=je(t,l,p,s,r,i,a,c,f,u),$=l.__e,(p.ref!=l.ref||8&p.__u)&&(p.ref&&Re(p.ref,null,l,p),l.ref&&u.push(l.ref,l.__c||$,l)),h=h||$,4&l.__u?(c=yt(l,c,t,!p.__v),p.__e&&(p.__e=null)):typeof l.type=="function"&&y!==void 0?c=y:$&&(c=$.nextSibling),l.__u&=-21);return n.__e=h,c}function gn(t,e,n,o,s){var r,i,a,c,f,u,_,p,l,$=n.length,h=$,y=0,b=0,m=t.__k=Array(s);for(r=0;r<s;r++)(i=e[r])!=null&&typeof i!="boolean"&&typeof i!="function"?(typeof i!="object"||i.constructor===String?i=m[r]=ne(null,i):Ie(i)?i=m[r]=ne($e,{children:i}):i.constructor===oe&&i.__b?i=m[r]=ne(i.type,i.props,i.key,i.ref,i.__v):m[r]=i,c=r+y,i.__=t,i.__b=t.__b+1,a=null,~(f=i.__i=yn(i,n,c,h))&&(h--,(a=n[f])&&(a.__u|=2)),a&&a.__v?(i.__u|=16,f==c-1?y--:f==c+1?y++:f!=c&&(f>c?y--:y++,b=1)):(~f||(s>$?y--:s<$&&y++),typeof i.type!="function"&&(i.__u|=4))):m[r]=null;if(b){for(u=[],_=[],r=0;r<s;r++)if((i=m[r])&&16&i.__u){for(y=0,p=u.length;y<p;)u[l=y+p>>1]<i.__i?y=l+1:p=l;u[y]=i.__i,_[r]=y+1}for(y=u.length;r--;)_[r]&&(_[r]==y?y--:m[r].__u|=4)}if(h)for(r=0;r<$;r++)!(a=n[r])||2&a.__u||(a.__e==o&&(o=q(a)),Ae(a,a));return o}function yt(t,e,n,o){var s,r,i,a;if(typeof t.type=="function"){if(t.props.__P)return e;if(s=t.__k)for(r=0;r<s.length;r++)s[r]&&(s[r].__=t,e=yt(s[r],e,n,!1));return e}for(e&&!e.parentNode&&(e=q(t))&&!e.parentNode&&(e=null),i=t.__e,a=e;a&&a.nodeType==8;)a=a.nextSibling;for(i!=a&&(!o&&n.moveBefore&&i.parentNode?n.moveBefore(i,e):n.insertBefore(i,e||null)),e=i;(e=e&&e.nextSibling)&&e.nodeType==8&&!e.data.startsWith("$s"););return e}function yn(t,e,n,o){var s,r=t.key,i=t.type,a=e[n],c=a&&!(2&a.__u);if(a===null&&r==null||c&&r==a.key&&i==a.type)return n;if(o>(c?1:0)){for(s=n-1;s>=0;s--)if((a=e[s])&&!(2&a.__u)&&r==a.key&&i==a.type)return s;for(s=n+1;s<e.length;s++)if((a=e[s])&&!(2&a.__u)&&r==a.key&&i==a.type)return s}return-1}function ft(t,e,n){n==null&&(n=""),e[0]=="-"?t.setProperty(e,n):t[e]=n}function ue(t,e,n,o,s){var r,i;if(e=="style")if(typeof n=="string")t.style.cssText=n;else{if(typeof o=="string"&&(t.style.cssText=o=""),o)for(e in o)n&&e in n||ft(t.style,e);if(n)for(e in n)o&&n[e]==o[e]||ft(t.style,e,n[e])}else if(e[0]=="o"&&e[1]=="n")typeof n!="function"&&(n=null),typeof o!="function"&&(o=null),(t.__e||(t.__e={}))[e]=n,n&&o||(i=Me[e]||(Me[e]=bn(e)),(t.__a||(t.__a={}))[e]=We,r=e!=(e=e.replace(mt,"$1")),(e=e.slice(2))[0]<"a"&&(e=e.toLowerCase()),n?t.addEventListener(e,i,r):t.removeEventListener(e,i,r));else{if(s=="http://www.w3.org/2000/svg")e=e.replace(/xlink(H|:h)/,"h").replace(/sName$/,"s");else if(e!="width"&&e!="height"&&e!="href"&&e!="list"&&e!="form"&&e!="tabIndex"&&e!="download"&&e!="rowSpan"&&e!="colSpan"&&e!="role"&&e!="popover"&&e in t)try{return void(t[e]=n??"")}catch{}if(typeof n=="function")return;n==null||n===!1&&e[4]!="-"?t.removeAttribute(e):t.setAttribute(e,e=="popover"&&n==1?"":n)}}function bn(t){return function(e){var n=this.__e;if(n){if(n=n[t],e[de]==null)e[de]=We++;else if(e[de]<this.__a[t])return;return n(S.event?S.event(e):e)}}}function je(t,e,n,o,s,r,i,a,c,f){var u,_,p,l,$,h,y,b,m,w,g,E,T,L,D,v,x,P,A=e.type;if(e.constructor!==oe)return null;128&n.__u&&(c=32&n.__u,u=n.__c.__z)&&(e.__u|=c,_=r=[],u.nodeType==8?a=_e(u,r):r.push(u),a=r[0]||a),(u=S.__b)&&u(e);e:if(typeof A=="function"){p=i.length;try{if(b=e.props,m=(u=A.prototype)&&u.render,w=(u=A.contextType)&&o[u.__c],g=u?w?w.props.value:u.__:o,(l=n.__c)?(e.__c=l,2&l.__g&&(l.__g|=1)):(m?e.__c=l=new A(b,g):(e.__c=l=new fe(b,g),l.constructor=A,l.render=kn),w&&w.sub(l),l.state||(l.state={}),l.__n=o,l.__g|=8,l.__h=[],l.__k=[]),m&&(l.__s||(l.__s=l.state),A.getDerivedStateFromProps&&(l.__s==l.state&&(l.__s=Y({},l.__s)),Y(l.__s,A.getDerivedStateFromProps(b,l.__s)))),$=l.props,h=l.state,l.__v=e,n.__c){if(b!==$&&m&&!A.getDerivedStateFromProps&&l.componentWillReceiveProps&&l.componentWillReceiveProps(b,g),e.__v==n.__v&&!(8&l.__g)||!(4&l.__g)&&l.shouldComponentUpdate&&l.shouldComponentUpdate(b,l.__s,g)===!1){e.__v!=n.__v&&(l.props=b,l.state=l.__s,l.__g&=-9),e.__e=n.__e,e.__k=n.__k,e.__k.some(function(j){j&&(j.__=e)}),he.push.apply(l.__h,l.__k),l.__k=[],l.__h.length&&i.push(l),a=q(n);break e}l.componentWillUpdate&&l.componentWillUpdate(b,l.__s,g),m&&l.componentDidUpdate&&l.__h.push(function(){l.componentDidUpdate($,h,y)})}else m&&!A.getDerivedStateFromProps&&l.componentWillMount&&l.componentWillMount(),m&&l.componentDidMount&&l.__h.push(l.componentDidMount);l.context=g,l.props=b,l.__P=t,l.__g&=-5,E=S.__r,T=m?25:0;do l.__g&=-9,E&&E(e),u=l.render(l.props,l.state=l.__s,l.context);while(8&l.__g&&++T<25);m&&(he.push.apply(l.__h,l.__k),l.__k=[]),l.state=l.__s,l.getChildContext&&(o=Y({},o,l.getChildContext())),m&&n.__c&&l.getSnapshotBeforeUpdate&&(y=l.getSnapshotBeforeUpdate($,h)),L=u&&u.type===$e&&u.key==null?u.props.children:u,b.__P&&(u=a,s=(t=b.__P).namespaceURI,c=r=null,n.props&&n.props.__P!=t&&(n.__k.some(function(j){j&&Ae(j,j)}),n.__k=null),a=n.__k?q(n,0):null),a=gt(t,Ie(L)?L:[L],e,n,o,s,r,i,a,c,f),b.__P&&(e.__e=null,a=u),e.__u&=-161,_&&_.some(z),l.__h.length&&i.push(l),1&l.__g&&(l.__g&=-4)}catch(j){if(i.length=p,e.__v=null,c||r)if(j&&j.then){if(e.__u|=128|c,r){for(~(x=r.indexOf(a||void 0))||(x=r.length);(P=r[x-1])&&P.nodeType==8;)x--;for(;x<r.length;x++)if(P=r[x])if(r[x]=null,D){if(P==v)break}else{if(P.nodeType!=8)break;P.data.startsWith("$s")&&(v=_e(D=P))}}if(!D){for(;a&&a.nodeType==8&&a.nextSibling;)a=a.nextSibling;D=a}(u=_e(D=e.__c.__z||(e.__c.__z=D)))?(e.__e=D,a=u):e.__e=a,a=a&&a.nextSibling}else r&&r.some(z);else e.__e=n.__e;e.__k||(e.__k=n.__k||[]),j&&j.then||bt(e),S.__e(j,e,n)}}else a=e.__e=wn(n.__e,e,n,o,s,r,i,c,f,t);return(u=S.diffed)&&u(e),a}function _e(t,e){if(t&&t.nodeType==8&&t.data.startsWith("$s"))for(var n=1;t=t.nextSibling;){if(t.nodeType==8){if(t.data.startsWith("$s"))n++;else if(t.data.startsWith("/$s")&&!--n)return t}e&&e.push(t)}}function bt(t){t&&(t.__c&&(t.__c.__g|=4),t.__k&&t.__k.some(bt))}function wt(t,e,n){for(var o=0;o<n.length;)Re(n[o++],n[o++],n[o++]);S.__c&&S.__c(e,t),t.some(function(s){try{t=s.__h,s.__h=[],t.some(function(r){r.call(s)})}catch(r){S.__e(r,s.__v)}})}function wn(t,e,n,o,s,r,i,a,c,f){var u,_,p,l,$,h,y,b,m=n.props||me,w=e.props,g=e.type;if(g=="svg"?s="http://www.w3.org/2000/svg":g=="math"?s="http://www.w3.org/1998/Math/MathML":s||(s="http://www.w3.org/1999/xhtml"),r){for(u=0;u<r.length;u++)if(($=r[u])&&(g?$.localName==g:$.nodeType==3)){t=$,r[u]=null;break}}if(!t){if(b=f.ownerDocument||document,!g)return b.createTextNode(w);t=b.createElementNS(s,g,w.is?w:f),a&&(S.__m&&S.__m(e,r),a=!1),r=null}if(g){if(f=g=="template"&&t.content||t,r=g=="textarea"&&w.defaultValue!=null?null:r&&Le.call(f.childNodes),!a&&r)for(m={},u=0;u<t.attributes.length;u++)m[($=t.attributes[u]).name]=$.value;for(u in m)$=m[u],u=="dangerouslySetInnerHTML"?p=$:u=="children"||u in w||u=="value"&&"defaultValue"in w||u=="checked"&&"defaultChecked"in w||ue(t,u,null,$,s);for(u in w)$=w[u],u=="children"?l=$:u=="dangerouslySetInnerHTML"?_=$:u=="value"?h=$:u=="checked"?y=$:a&&typeof $!="function"||m[u]===$||ue(t,u,$,m[u],s);_?(a||p&&(_.__html==p.__html||_.__html==t.innerHTML)||(t.innerHTML=_.__html),e.__k=[]):(p&&(t.textContent=""),(g=="foreignObject"||s=="http://www.w3.org/1998/Math/MathML"&&$n.test(g))&&(s="http://www.w3.org/1999/xhtml"),gt(f,Ie(l)?l:[l],e,n,o,s,r,i,r?r[0]:n.__k&&q(n,0),a,c),r&&r.some(z)),a&&g!="textarea"||(u="value",g=="progress"&&h==null?t.removeAttribute(u):h==null||h===t[u]&&(g!="progress"||h)||ue(t,u,h,m[u],s),u="checked",y!=null&&y!=t[u]&&ue(t,u,y,m[u],s))}else m===w||a&&t.data==w||(t.data=w);return t}function Re(t,e,n,o){try{typeof t=="function"?e?e.__x=t(e)||1:o&&(o=o.__c||o.__e)&&(e=o.__x)&&(o.__x=null,typeof e=="function"?e():t(null)):t.current=e}catch(s){S.__e(s,n)}}function Ae(t,e,n){var o,s,r,i;if(S.unmount&&S.unmount(t),!(o=t.ref)||o.current&&o.current!=t.__e||Re(o,null,e,t),o=t.__c){if(o.componentWillUnmount)try{o.componentWillUnmount()}catch(a){S.__e(a,e)}o.__P=o.__n=null}if(o=t.__k)for(i=0;i<o.length;i++)o[i]&&Ae(o[i],e,typeof t.type!="function"||n&&!t.props.__P);!n&&(o=t.__c)&&(o=o.__z)&&(s=_e(o,r=[]))&&(o==t.__e&&r.some(z),z(s),z(o)),n||z(t.__e),t.__e=t.__c=t.__=null}function kn(t,e,n){return this.constructor(t,n)}function ve(t,e){var n,o,s,r;S.__&&S.__(t,e),e.nodeType==9&&(e=e.documentElement),o=(n=t&&32&t.__u)?null:e.__k,e.__k=ne($e,{children:[t]}),s=[],r=[],je(e,e.__k,o||me,me,e.namespaceURI,o?null:e.firstChild?Le.call(e.childNodes):null,s,o?o.__e:e.firstChild,n,r),wt(s,e.__k,r),e.__k.props.children=null}S={__e:function(t,e,n,o){for(var s,r,i;e=e.__;)if((s=e.__c)&&!(1&s.__g)){s.__g|=4;try{if((i=(r=s.constructor)&&r.getDerivedStateFromError)&&s.setState(r.getDerivedStateFromError(t)),s.componentDidCatch&&(s.componentDidCatch(t,o||{}),i=1),i&&8&s.__g)return void(s.__g|=2)}catch(a){t=a}}throw pe=0,t}},_t=0,mn=function(t){return t!=null&&t.constructor===oe},fe.prototype.setState=function(t,e){var n=this.__s;n&&n!=this.state||(n=this.__s=Y({},this.state)),typeof t=="function"&&(t=t(Y({},n),this.props)),t&&(Y(n,t),this.__v&&(e&&this.__k.push(e),dt(this)))},fe.prototype.forceUpdate=function(t){this.__v&&(this.__g|=4,t&&this.__h.push(t),dt(this))},fe.prototype.render=$e,U=[],pe=0,pt=function(t,e){return t.__v.__b-e.__v.__b},de=Symbol(),mt=/(PointerCapture)$|Capture$/i,We=0,Me={},hn=0;var xt=function(t,e,n,o){var s;e[0]=0;for(var r=1;r<e.length;r++){var i=e[r++],a=e[r]?(e[0]|=i?1:2,n[e[r++]]):e[++r];i===3?o[0]=a:i===4?o[1]=Object.assign(o[1]||{},a):i===5?(o[1]=o[1]||{})[e[++r]]=a:i===6?o[1][e[++r]]+=a+"":i?(s=t.apply(a,xt(t,a,n,["",null])),o.push(s),a[0]?e[0]|=2:(e[r-2]=0,e[r]=s)):o.push(a)}return o},kt=new Map;function Ct(t){var e=kt.get(this);return e||(e=new Map,kt.set(this,e)),(e=xt(this,e.get(t)||(e.set(t,e=(function(n){for(var o,s,r=1,i="",a="",c=[0],f=function(p){r===1&&(p||(i=i.replace(/^\s*\n\s*|\s*\n\s*$/g,"")))?c.push(0,p,i):r===3&&(p||i)?(c.push(3,p,i),r=2):r===2&&i==="..."&&p?c.push(4,p,0):r===2&&i&&!p?c.push(5,0,!0,i):r>=5&&((i||!p&&r===5)&&(c.push(r,0,i,s),r=6),p&&(c.push(r,p,0,s),r=6)),i=""},u=0;u<n.length;u++){u&&(r===1&&f(),f(u));for(var _=0;_<n[u].length;_++)o=n[u][_],r===1?o==="<"?(f(),c=[c],r=3):i+=o:r===4?i==="--"&&o===">"?(r=1,i=""):i=o+i[0]:a?o===a?a="":i+=o:o==='"'||o==="'"?a=o:o===">"?(f(),r=1):r&&(o==="="?(r=5,s=i,i=""):o==="/"&&(r<5||n[u][_+1]===">")?(f(),r===3&&(c=c[0]),r=c,(c=c[0]).push(2,0,r),r=0):o===" "||o==="	"||o===`
`||o==="\r"?(f(),r=2):i+=o),r===3&&i==="!--"&&(r=4,c=c[0])}return f(),c})(t)),e),arguments,[])).length>1?e:e[0]}var d=Ct.bind(ht);var xn="judgekit-page/1";function St(){let t=document.getElementById("page-index");if(!t)return null;let e=JSON.parse(t.textContent);return e.format===xn?e:null}async function Cn(t){let e=Uint8Array.from(atob(t),o=>o.charCodeAt(0)),n=new Blob([e]).stream().pipeThrough(new DecompressionStream("gzip"));return JSON.parse(await new Response(n).text())}var Fe=new Map;function Sn(t){if(!Fe.has(t)){let e=document.getElementById(`chunk-${t}`),n=document.getElementById("page-index").dataset.chunks;Fe.set(t,e?Cn(e.textContent):fetch(`${n}${t}`).then(o=>o.json()))}return Fe.get(t)}async function Pt(t,e){return(await Sn(Math.floor(e/t.chunk)))[e%t.chunk]}var G,N,He,Tt,Ue=Object.is,ge=0,jt=[],qe=[],O=S,Et=O.__b,Ot=O.__r,Nt=O.diffed,Dt=O.__c,Mt=O.unmount,Wt=O.__;function se(t,e){O.__h&&O.__h(N,t,ge||e),ge=0;var n=N.__H||(N.__H={__:[],__h:[]});return t>=n.__.length&&n.__.push({}),n.__[t]}function C(t){return ge=1,Pn(Rt,t)}function Pn(t,e,n){var o=se(G++,2);if(o.t=t,!o.__c&&(o.__=[n?n(e):Rt(void 0,e),function(r){var i=(o.__N||o.__)[0],a=o.t(i,r);Ue(i,a)||(o.__N=[a,o.__[1]],o.__c.setState({}))}],o.__c=N,!N.__f)){N.__f=!0;var s=N.shouldComponentUpdate;N.shouldComponentUpdate=function(r,i,a){var c=this.__H;if(!c)return!0;var f=!1,u=this.props!=r;if(c.__.some(function(p){p.__N&&(f=!0,Ue(p.__[0],p.__N[0])||(u=!0))}),s){var _=s.call(this,r,i,a);return f?_||u:_}return!f||u}}return o.__}function M(t,e){var n=se(G++,3);!O.__s&&Be(n.__H,e)&&(n.__P=!0,n.__=t,n.u=e,N.__H.__h.push(n))}function ie(t,e){var n=se(G++,4);!O.__s&&Be(n.__H,e)&&(n.__P=!1,n.__=t,n.u=e,N.__h.push(n))}function I(t){return ge=5,Tn(function(){return{current:t}},[])}function Tn(t,e){var n=se(G++,7);return Be(n.__H,e)&&(n.__=t(),n.__H=e),n.__}function J(){var t=se(G++,11);if(!t.__){for(var e=N.__v;!e.__m&&e.__;)e=e.__;var n=e.__m||(e.__m=[0,0]);t.__="P"+n[0]+"-"+n[1]++}return t.__}function En(){var t;do{for(;t=qe.shift();)try{re(t)}catch(n){O.__e(n,{__:(t=t.__P)&&t.__v})}for(;t=jt.shift();){var e=t.__H;if(t.__P&&e)try{e.__h.some(re),e.__h.some(Je),e.__h=[]}catch(n){e.__h=[],O.__e(n,t.__v)}}}while(qe.length)}O.__b=function(t){N=null,Et&&Et(t)},O.__=function(t,e){t&&e.__k&&e.__k.__m&&(t.__m=e.__k.__m),Wt&&Wt(t,e)},O.__r=function(t){Ot&&Ot(t),G=0;var e=(N=t.__c).__H;e&&(He==N?N.__h=[]:(e.__h.some(re),e.__h.some(Je),G=0),e.__h=[],e.__.some(function(n){n.__N&&(n.__=n.__N),n.u=n.__N=void 0})),He=N},O.diffed=function(t){Nt&&Nt(t);var e=t.__c;e&&e.__H&&(e.__H.__h.length&&Lt(jt.push(e)),e.__H.__.some(function(n){n.u&&(n.__H=n.u)})),He=N=null},O.__c=function(t,e){e.some(function(n){try{n.__h.some(re),n.__h=n.__h.filter(function(o){return!o.__||Je(o)})}catch(o){n.__h=[function(){throw o}]}}),Dt&&Dt(t,e)},O.unmount=function(t){Mt&&Mt(t);var e,n,o=t.__c;o&&o.__H&&(o.__H.__.some(function(s){try{if(s.__P&&s.__c){if(n===void 0){for(n=t.__;n&&(!n.__c||!n.__c.__P);)n=n.__;n=n&&n.__c}s.__P=n,Lt(qe.push(s))}else re(s)}catch(r){e=r}}),o.__H=void 0,e&&O.__e(e,o.__v))};var It=typeof requestAnimationFrame=="function";function On(t){var e,n=function(){clearTimeout(o),It&&cancelAnimationFrame(e),setTimeout(t)},o=setTimeout(n,35);It&&(e=requestAnimationFrame(n))}function Lt(t){t!=1&&Tt==O.requestAnimationFrame||((Tt=O.requestAnimationFrame)||On)(En)}function re(t){var e=N,n=t.__c;typeof n=="function"&&(t.__c=void 0,n()),N=e}function Je(t){var e=N;t.__c=t.__(),N=e}function Be(t,e){return!t||t.length!=e.length||e.some(function(n,o){return!Ue(n,t[o])})}function Rt(t,e){return typeof e=="function"?e(t):e}function At({index:t,title:e}){let[n,o]=C(null);return d`
    <h2>${e}</h2>
    <div class="wide cases">
      <table>
        <tbody>
          ${t.order.slice(0,100).map(s=>d`
            <tr data-row=${s} onClick=${async()=>o(await Pt(t,s))}>
              <th scope="row" class="id">${t.ids[s]}</th>
              <td>${t.snippets[s]}</td>
              ${t.cells.map(r=>d`<td>${r.value[s]??""}</td>`)}
            </tr>`)}
        </tbody>
      </table>
    </div>
    ${n&&d`<div class="drawer"><pre>${JSON.stringify(n,null,1)}</pre></div>`}
  `}var X=class extends Error{constructor(e,n,o=null){super(e),this.status=n,this.reply=o}};function Ve(){return Ft()!==void 0}function Ft(){return document.querySelector('meta[name="judgekit-token"]')?.content}async function F(t,e){if(!Ve())throw new X("This page can change nothing: it is for reading only.",0);let n;try{n=await fetch(t,{method:"POST",headers:{"content-type":"application/json","x-judgekit-token":Ft()},body:JSON.stringify(e)})}catch{throw new X("judgekit view does not answer. Is it still running?",0)}let o=await n.text(),r=n.headers.get("content-type")?.startsWith("application/json")?JSON.parse(o):null;if(!n.ok)throw new X(r?.error??o,n.status,r);return r}var ye=20;function Ht({path:t,text:e,problems:n,isReadOnly:o,target:s,onInput:r}){let i=I(null),a=I(null),[c,f]=C({top:0,height:600}),u=()=>i.current&&f({top:i.current.scrollTop,height:i.current.clientHeight});ie(()=>{i.current.value!==e&&(i.current.value=e)},[e]),M(()=>{let h=new ResizeObserver(u);return h.observe(i.current),()=>h.disconnect()},[]),ie(()=>{a.current.style.transform=`translateY(${-(c.top%ye)}px)`},[c]),M(()=>{if(!s)return;let h=e.split(`
`),y=h.slice(0,s.line-1).reduce((b,m)=>b+m.length+1,0);i.current.focus(),i.current.setSelectionRange(y,y+(h[s.line-1]??"").length),i.current.scrollTop=Math.max(0,(s.line-4)*ye),i.current.scrollLeft=0,u()},[s]);let _=new Map;for(let h of n){let y=_.get(h.line);_.set(h.line,{severity:y?.severity==="error"?"error":h.severity,words:y?`${y.words}
${h.message}`:h.message})}let p=e.split(`
`).length,l=Math.floor(c.top/ye),$=Math.min(p-l,Math.ceil(c.height/ye)+1);return d`
    <div class="ed-text">
      <div class="ed-gutter" aria-hidden="true">
        <div ref=${a}>
          ${Array.from({length:Math.max(0,$)},(h,y)=>{let b=l+y+1,m=_.get(b),w=m&&(m.severity==="error"?"✗":"!");return d`<div class=${m?`ed-${m.severity}`:""} title=${m?.words}>${w} ${b}</div>`})}
        </div>
      </div>
      <textarea ref=${i} wrap="off" spellcheck=${!1} autocomplete="off" aria-label=${`Text of ${t}`}
        readOnly=${o} onScroll=${u} onInput=${h=>r(h.target.value)} />
    </div>`}var Nn=400,Ut=90,ze=500,Dn={assertions:[],scorers:[],variants:[],suites:[],needs:[],examples:[],tags:[],stratum:"",metadata:{},evaluation:{},judge:{},gate:{},settings:{},compare:{},prices:{},columns:{},panel:{}};function Mn(t,e){let[n,o]=C(t),s=I({draft:t,value:t,timer:0});s.current.commit=e,M(()=>{s.current.draft===s.current.value&&o(s.current.draft=t),s.current.value=t},[t]);let r=()=>{clearTimeout(s.current.timer),s.current.draft!==s.current.value&&(s.current.value=s.current.draft,s.current.commit(s.current.draft))};return M(()=>r,[]),[n,a=>{o(s.current.draft=a),clearTimeout(s.current.timer),s.current.timer=setTimeout(r,Nn)},r]}function Jt(t,e){let[n,o]=C(t);return M(()=>o(t),[t]),[n,async r=>{o(r),await e(r)||o(t)}]}function H({label:t,value:e,onCommit:n,lines:o=1,hint:s="",problem:r="",type:i="text"}){let a=J(),[c,f,u]=Mn(e,n),_=I(null),p=Math.min(16,Math.max(o,c.split(`
`).length)),l=r||s?`${a}-about`:null,$={id:a,value:c,"aria-describedby":l,"aria-invalid":r?"true":null,onInput:h=>f(h.target.value),onBlur:u};return d`
    <div class="ed-field">
      <label for=${a}>${t}</label>
      ${o===1?d`<input type=${i} ref=${_} ...${$} />`:d`<textarea rows=${p} ...${$} />`}
      ${l&&d`<p id=${l} class=${r?"fail":"note"}>${r||s}</p>`}
    </div>`}function Wn({label:t,value:e,onCommit:n,hint:o}){let[s,r]=C(""),i=JSON.stringify(e,null,2),a=c=>{let f;try{f=JSON.parse(c)}catch(u){r(`Not in the file yet, for it is not JSON: ${u.message}`);return}r(""),n(f)};return d`<${H} label=${`${t} (JSON)`} value=${i} lines=${2} problem=${s} hint=${o} onCommit=${a} />`}function Q({label:t,value:e,lines:n,onCommit:o,onRemove:s,hint:r}){return e!=null&&typeof e!="string"?d`<${Wn} label=${t} value=${e} onCommit=${o} hint=${r} />`:d`<${H} label=${t} value=${e??""} lines=${n} onCommit=${a=>a===""&&s?s():o(a)} hint=${r} />`}function be({label:t,value:e,onCommit:n,onRemove:o,hint:s}){let[r,i]=C(""),a=c=>{let f=c.trim(),u=f!==""&&Number.isFinite(Number(f));i(u||f===""&&o?"":"Not in the file yet: a number is needed."),u?n(Number(f)):f===""&&o&&o()};return d`<${H} label=${t} value=${e==null?"":String(e)}
    problem=${r} hint=${s} onCommit=${a} />`}function Ye({data:t,known:e,where:n,change:o,noun:s}){let[r,i]=C(""),a=J(),c=Object.keys(t).filter(_=>!e.includes(_)),f=r.trim(),u=async()=>{f&&!(f in t)&&await o("set",[...n,f],Dn[f]??"")&&i("")};return d`
    ${c.map(_=>d`
      <div class="ed-other" key=${_}>
        <${Q} label=${_} value=${t[_]??void 0} lines=${1}
          onCommit=${p=>o("set",[...n,_],p)} />
        <button onClick=${()=>o("remove",[...n,_])} aria-label=${`Remove ${_}`} title="Remove">×</button>
      </div>`)}
    <div class="ed-add">
      <label for=${a}>Further field of the ${s}</label>
      <input id=${a} value=${r} onInput=${_=>i(_.target.value)}
        onKeyDown=${_=>_.key==="Enter"&&u()} />
      <button onClick=${u} disabled=${!f||f in t}>Add field</button>
    </div>`}function Bt({noun:t,n:e,place:n,where:o,change:s,onPlace:r,blank:i,copyName:a,isReadOnly:c}){let f=async(_,p,l,$)=>{await s(_,[...o,p],l)&&r($)},u=async()=>{if(!await s("copy",[...o,n]))return;let[_,p]=a(n);await s("set",[...o,n+1,_],p),r(n+1)};return c?null:d`
    <fieldset class="ed-tools" aria-label=${`Change the list of ${t==="criterion"?"criteria":"cases"}`}>
      <button onClick=${()=>f("insert",e?n:-1,i(),e?n+1:0)}>Add</button>
      <button disabled=${!e} onClick=${u}>Duplicate</button>
      <button disabled=${n<1} onClick=${()=>f("move",n,-1,n-1)} aria-label="Move up">↑</button>
      <button disabled=${n>=e-1} onClick=${()=>f("move",n,1,n+1)} aria-label="Move down">↓</button>
      <button disabled=${!e} onClick=${()=>f("remove",n,null,Math.max(0,Math.min(n,e-2)))}>Delete</button>
    </fieldset>`}function Vt({label:t,items:e,place:n,onPlace:o}){let s=I(null);return d`
    <ul class="ed-items" ref=${s} aria-label=${t} onKeyDown=${i=>{let a={ArrowDown:1,ArrowUp:-1}[i.key];if(!a)return;i.preventDefault();let c=[...s.current.querySelectorAll("button")],f=c[c.indexOf(document.activeElement)+a];f?.focus(),f?.click()}}>
      ${e.map(i=>d`
        <li key=${i.place}>
          <button aria-current=${i.place===n?"true":null} onClick=${()=>o(i.place)}>
            <strong><bdi>${i.name}</bdi></strong>
            ${i.tags?.map(a=>d`<span class="ed-tag"><bdi>${a}</bdi></span>`)}
            <span class="note" dir="auto">${i.words}</span>
          </button>
        </li>`)}
    </ul>`}function zt(t){let e=typeof t=="string"?t:JSON.stringify(t)??"";return e.length>Ut?`${e.slice(0,Ut)}…`:e}function we(t,e){for(let n=2;;n++)if(!e.includes(`${t}-${n}`))return`${t}-${n}`}function qt(t){return Array.isArray(t)?t.filter(e=>typeof e=="string"):[]}function Yt({file:t,caseId:e,onCase:n,change:o,isReadOnly:s}){let[r,i]=C(""),[a,c]=C(null),f=J(),u=t.cases_at,_=(u.length?t.data[u[0]]:t.data).map(v=>v&&typeof v=="object"&&!Array.isArray(v)?v:{}),p=(v,x)=>Object.keys(t.aliases).find(P=>t.aliases[P]===x&&P in v&&!(x in v))??x,l=_.map(v=>String(v[p(v,"id")]??"")),$=e===null?0:Math.max(0,l.indexOf(e)),h=Math.min(a&&l[a.place]===(a.id??l[a.place])?a.place:$,Math.max(0,_.length-1)),y=v=>{c({place:v}),n(l[v]??null)},b=v=>v[p(v,"input")],m=r.trim().toLowerCase(),w=_.map((v,x)=>({place:x,name:l[x]||"(no id)",words:zt(b(v)),tags:qt(v.tags)})).filter(v=>!m||`${v.name} ${v.words} ${v.tags.join(" ")}`.toLowerCase().includes(m)),g=_[h],E=[...u,h],T=v=>x=>o("set",[...E,v],x),L=v=>v in g?()=>o("remove",[...E,v]):null,D=["tags",...["id","input","reference","context"].map(v=>g?p(g,v):v)];return d`
    <div class="ed-list">
      <div class="ed-field">
        <label for=${f}>Find a case</label>
        <input id=${f} type="search" value=${r} onInput=${v=>i(v.target.value)} />
      </div>
      <p class="note" role="status">${w.length===_.length?`${_.length} cases`:`${w.length} of ${_.length} cases`}${w.length>ze?`, the first ${ze} are listed`:""}</p>
      <${Bt} noun="case" n=${_.length} place=${h} where=${u} change=${o} isReadOnly=${s} onPlace=${v=>c({place:v})}
        blank=${()=>({id:we("case",l),input:""})} copyName=${v=>["id",we(l[v],l)]} />
      <${Vt} label="Cases" items=${w.slice(0,ze)} place=${h} onPlace=${y} />
    </div>
    ${g&&d`
      <fieldset class="ed-fields" disabled=${s} aria-label=${`Case ${l[h]}`} key=${`${h} of ${_.length}`}>
        <p class="note">Line ${t.lines[h]}</p>
        <${H} label="id" value=${l[h]} hint="Names results and stored judgments."
          onCommit=${async v=>{await o("set",[...E,p(g,"id")],v)&&(c({place:h}),n(v))}} />
        <${Q} label=${p(g,"input")} value=${b(g)} lines=${5} onCommit=${T(p(g,"input"))} />
        ${["reference","context"].map(v=>d`
          <${Q} key=${v} label=${p(g,v)} value=${g[p(g,v)]} lines=${3}
            onCommit=${T(p(g,v))} onRemove=${L(p(g,v))} />`)}
        <${H} label="tags" value=${qt(g.tags).join(", ")} hint="Separated by commas."
          onCommit=${v=>T("tags")(v.split(",").map(x=>x.trim()).filter(Boolean))} />
        <${Ye} data=${g} known=${D} where=${E} change=${o} noun="case" />
      </fieldset>`}`}var In=["name","question","scoring_guide","scale","weight","required","pass_value"];function Gt({data:t,change:e,isReadOnly:n}){let[o,s]=C(0),r=t.criteria.map(l=>l&&typeof l=="object"?l:{}),i=Math.min(o,Math.max(0,r.length-1)),a=r.map(l=>String(l.name??"")),c=r[i],f=["criteria",i],u=l=>$=>e("set",[...f,l],$),_=l=>l in c?()=>e("remove",[...f,l]):null,p=l=>$=>e("set",[l],$);return d`
    <div class="ed-list">
      <fieldset disabled=${n} aria-label="Rubric">
      <${H} label="Name of the rubric" value=${String(t.name??"")} onCommit=${p("name")} />
      <${be} label="pass_threshold" value=${t.pass_threshold} hint="The least overall value that passes, 0 to 1."
        onCommit=${p("pass_threshold")} onRemove=${"pass_threshold"in t?()=>e("remove",["pass_threshold"]):null} />
      </fieldset>
      <${Bt} noun="criterion" n=${r.length} place=${i} where=${["criteria"]} change=${e} isReadOnly=${n} onPlace=${s}
        blank=${()=>({name:we("criterion",a),question:""})} copyName=${l=>["name",we(a[l],a)]} />
      <${Vt} label="Criteria" items=${r.map((l,$)=>({place:$,name:a[$]||"(no name)",words:zt(l.question??"")}))}
        place=${i} onPlace=${s} />
    </div>
    ${c&&d`
      <fieldset class="ed-fields" disabled=${n} aria-label=${`Criterion ${a[i]}`} key=${`${i} of ${r.length}`}>
        <${H} label="name" value=${a[i]} onCommit=${u("name")} />
        <${Q} label="question" value=${c.question} lines=${3} onCommit=${u("question")} />
        <${jn} scale=${c.scale} where=${[...f,"scale"]} change=${e} />
        <${Q} label="scoring_guide" value=${c.scoring_guide} lines=${3} onCommit=${u("scoring_guide")} onRemove=${_("scoring_guide")} />
        <div class="ed-row">
          <${be} label="weight" value=${c.weight} hint="Its share in the overall value; 1 if missing." onCommit=${u("weight")} onRemove=${_("weight")} />
          <${be} label="pass_value" value=${c.pass_value} hint="The least value that passes, 0 to 1." onCommit=${u("pass_value")} onRemove=${_("pass_value")} />
          <${Ln} label="required" value=${c.required===!0} onCommit=${u("required")} />
        </div>
        <${Ye} data=${c} known=${In} where=${f} change=${e} noun="criterion" />
      </fieldset>`}`}function Ln({label:t,value:e,onCommit:n}){let[o,s]=Jt(e,n);return d`<label class="ed-check"><input type="checkbox" checked=${o}
    onChange=${r=>s(r.target.checked)} /> ${t}</label>`}function jn({scale:t,where:e,change:n}){return Array.isArray(t)&&t.every(s=>s&&typeof s=="object"&&"value"in s)?d`
    <fieldset class="ed-levels">
      <legend>scale</legend>
      ${t.map((s,r)=>d`
        <div class="ed-level" key=${`${r} of ${t.length}`}>
          <${be} label=${`Value ${r+1}`} value=${s.value} onCommit=${i=>n("set",[...e,r,"value"],i)} />
          <${H} label="Anchor" value=${String(s.description??"")} lines=${2} onCommit=${i=>n("set",[...e,r,"description"],i)} />
          <button aria-label=${`Remove level ${s.value}`} title="Remove" disabled=${t.length<3} onClick=${()=>n("remove",[...e,r])}>×</button>
        </div>`)}
      <button onClick=${()=>n("insert",[...e,t.length-1],{value:Rn(t),description:""})}>Add level</button>
    </fieldset>`:d`<${Q} label="scale" value=${t} lines=${1} onCommit=${s=>n("set",e,s)}
      hint='The name of a scale, such as likert5; or JSON: a list of levels, each with a value and a description.' />`}function Rn(t){let e=t.map(o=>Number(o.value)).filter(Number.isFinite),n=e.at(-1)??0;return e.length>1&&e[0]>n?n-1:n+1}var An=["name","dataset","rubric","profile","cases"];function Xt({data:t,profiles:e,change:n,isReadOnly:o}){let s=c=>f=>n("set",[c],f),r=c=>c in t?()=>n("remove",[c]):null,[i,a]=Jt(t.profile??"",c=>c?n("set",["profile"],c):n("remove",["profile"]));return d`
    <fieldset class="ed-fields" disabled=${o} aria-label="Suite">
      <${H} label="name" value=${String(t.name??"")} onCommit=${s("name")} />
      ${["dataset","rubric"].map(c=>d`
        <${Q} key=${c} label=${c} value=${t[c]} lines=${1} onCommit=${s(c)} onRemove=${r(c)} />`)}
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
      <${Ye} data=${t} known=${An} where=${[]} change=${n} noun="suite" />
    </fieldset>`}var Fn=600,ke="\0typed",Qt=new Set(["suite","rubric","cases","template","partial","outputs"]);function Zt({path:t,file:e,listing:n,caseId:o,onCase:s,isReadOnly:r}){let i=n.files.filter(x=>x.kind==="suite").map(x=>x.path),[a,c]=C(i.includes(t)?t:i[0]),[f,u]=C(null),[_,p]=C(""),[l,$]=C(""),[h,y]=C(null),[b,m]=C(""),w=I(0),g=f===ke,E={case_id:o,variant:g?null:f,output:g?_:null,model:l.trim()||null},T={path:t,text:e.text,suite:a,settings:E},L=JSON.stringify(T),D=async x=>{try{let P=await F("/api/edit/preview",T);if(x!==w.current)return;P.error||y({...P,key:L}),m(P.error??"")}catch(P){if(x!==w.current)return;m(P.message)}};if(M(()=>{let x=++w.current;if(!a||!Qt.has(e.kind))return;let P=setTimeout(()=>D(x),h||b?Fn:0);return()=>clearTimeout(P)},[L,e.kind]),!Qt.has(e.kind))return null;if(!a)return d`<aside class="ed-preview" aria-label="Preview"><h2>Preview</h2>
      <p class="note">Prompts are shown with a suite, which names the judge: there is none in this folder. <code>judgekit init</code> makes one.</p></aside>`;let v=h?.key===L;return d`
    <aside class="ed-preview" aria-label="Preview" aria-busy=${!v&&!b}>
      <h2>What the judge reads</h2>
      <div class="ed-choices">
        ${i.length>1&&d`<${Ge} label="Suite" value=${a} options=${i} onChoose=${c} />`}
        ${h&&d`
          <${Ge} label="Case" value=${h.case_id} options=${h.cases} onChoose=${s} />
          <${Ge} label="Output" value=${f??h.variant??ke} onChoose=${u}
            options=${[...h.variants,ke]} names=${{[ke]:"typed here"}} />
          <${Hn} judges=${h.judges} model=${l} onModel=${$} />`}
      </div>
      ${g&&d`<${Un} text=${_} onText=${p} />`}
      ${b&&d`<p class="ed-narrow">No preview: <bdi>${b}</bdi></p>`}
      ${h&&!b&&d`
        ${h.notes.map(x=>d`<p class="note">${x}</p>`)}
        <${Jn} body=${T} preview=${h} isCurrent=${v&&!b} isReadOnly=${r} />
        ${!g&&h.variant&&d`<details><summary>Output of ${h.variant}</summary><pre dir="auto">${h.output}</pre></details>`}
        ${h.requests.map((x,P)=>d`<${qn} key=${P} request=${x} isOpen=${P===0} />`)}`}
    </aside>`}function Ge({label:t,value:e,options:n,names:o={},onChoose:s}){let r=J();return d`<div class="ed-field">
    <label for=${r}>${t}</label>
    <select id=${r} value=${e} onChange=${i=>s(i.target.value)}>
      ${n.map(i=>d`<option key=${i} value=${i} selected=${i===e}>${o[i]??i}</option>`)}
    </select></div>`}function Hn({judges:t,model:e,onModel:n}){let o=J();return d`<div class="ed-field">
    <label for=${o}>Model</label>
    <input id=${o} value=${e} placeholder=${t.join(", ")||"none"} onChange=${s=>n(s.target.value)} />
  </div>`}function Un({text:t,onText:e}){let n=J();return d`<div class="ed-field">
    <label for=${n}>Output to judge</label>
    <textarea id=${n} rows="4" value=${t} onInput=${o=>e(o.target.value)} />
  </div>`}function qn({request:t,isOpen:e}){let n=t.repeat?`, repeat ${t.repeat+1}`:"";return d`
    <details open=${e}>
      <summary><strong>${t.criterion??"all criteria"}</strong>${n}: ${t.tokens}, ${t.price}</summary>
      <p class="note">${t.judge}; tokens counted by ${t.token_source}</p>
      ${t.messages.map(o=>d`
        <h3>${o.role}</h3>
        <pre class="ed-prompt" dir="auto">${o.content}</pre>`)}
    </details>`}function Jn({body:t,preview:e,isCurrent:n,isReadOnly:o}){let[s,r]=C("ready"),[i,a]=C(null),[c,f]=C("");M(()=>{r("ready"),a(null),f("")},[e.calls_key]);let u=async()=>{r("running"),f("");try{let l=await F("/api/edit/preview",{...t,calls_key:e.calls_key});l.error?f(l.error):a(l)}catch(l){f(l.message)}r("ready")},_=I(null);M(()=>{s==="confirm"&&_.current.focus()},[s]);let p=e.n_calls===0||e.price.includes("not recorded");return o?d`<p><strong>${e.price}</strong></p>`:d`
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
      <div role="status">${c&&d`<p class="error">${c}</p>`}${i&&d`<${Bn} result=${i} />`}</div>
    </div>`}function Bn({result:t}){return d`
    <p class=${`conclusion ${t.tone}`}>${t.conclusion}</p>
    ${t.notes.map(e=>d`<p class="error">${e}</p>`)}
    ${t.judgments.map(e=>d`
      <section class="ed-judgment">
        <h3>${e.criterion}: ${e.raw} <span class="note">value ${e.value.toFixed(2)}, ${e.cached?"cached":e.cost_usd===null?"price unknown":`$${e.cost_usd?e.cost_usd.toPrecision(2):0}`}${e.confidence===null?"":`, confidence ${e.confidence}`}</span></h3>
        <p class="note">${e.judge}</p>
        <p dir="auto">${e.rationale}</p>
        ${e.evidence.map(n=>d`<blockquote dir="auto">${n.quote}${!n.match&&d` <span class="fail">! not in the output</span>`}</blockquote>`)}
      </section>`)}`}var B=class{diff(e,n,o={}){let s;typeof o=="function"?(s=o,o={}):"callback"in o&&(s=o.callback);let r=this.castInput(e,o),i=this.castInput(n,o),a=this.removeEmpty(this.tokenize(r,o)),c=this.removeEmpty(this.tokenize(i,o));return this.diffWithOptionsObj(a,c,o,s)}diffWithOptionsObj(e,n,o,s){var r;let i=m=>{if(m=this.postProcess(m,o),s){setTimeout(function(){s(m)},0);return}else return m},a=n.length,c=e.length,f=1,u=a+c;o.maxEditLength!=null&&(u=Math.min(u,o.maxEditLength));let _=(r=o.timeout)!==null&&r!==void 0?r:1/0,p=Date.now()+_,l=[{oldPos:-1,lastComponent:void 0}],$=this.extractCommon(l[0],n,e,0,o);if(l[0].oldPos+1>=c&&$+1>=a)return i(this.buildValues(l[0].lastComponent,n,e));let h=-1/0,y=1/0,b=()=>{for(let m=Math.max(h,-f);m<=Math.min(y,f);m+=2){let w,g=l[m-1],E=l[m+1];g&&(l[m-1]=void 0);let T=!1;if(E){let D=E.oldPos-m;T=E&&0<=D&&D<a}let L=g&&g.oldPos+1<c;if(!T&&!L){l[m]=void 0;continue}if(!L||T&&g.oldPos<E.oldPos?w=this.addToPath(E,!0,!1,0,o):w=this.addToPath(g,!1,!0,1,o),$=this.extractCommon(w,n,e,m,o),w.oldPos+1>=c&&$+1>=a)return i(this.buildValues(w.lastComponent,n,e))||!0;l[m]=w,w.oldPos+1>=c&&(y=Math.min(y,m-1)),$+1>=a&&(h=Math.max(h,m+1))}f++};if(s)(function m(){setTimeout(function(){if(f>u||Date.now()>p)return s(void 0);b()||m()},0)})();else for(;f<=u&&Date.now()<=p;){let m=b();if(m)return m}}addToPath(e,n,o,s,r){let i=e.lastComponent;return i&&!r.oneChangePerToken&&i.added===n&&i.removed===o?{oldPos:e.oldPos+s,lastComponent:{count:i.count+1,added:n,removed:o,previousComponent:i.previousComponent}}:{oldPos:e.oldPos+s,lastComponent:{count:1,added:n,removed:o,previousComponent:i}}}extractCommon(e,n,o,s,r){let i=n.length,a=o.length,c=e.oldPos,f=c-s,u=0;for(;f+1<i&&c+1<a&&this.equals(o[c+1],n[f+1],r);)f++,c++,u++,r.oneChangePerToken&&(e.lastComponent={count:1,previousComponent:e.lastComponent,added:!1,removed:!1});return u&&!r.oneChangePerToken&&(e.lastComponent={count:u,previousComponent:e.lastComponent,added:!1,removed:!1}),e.oldPos=c,f}equals(e,n,o){return o.comparator?o.comparator(e,n):e===n||!!o.ignoreCase&&e.toLowerCase()===n.toLowerCase()}removeEmpty(e){let n=[];for(let o=0;o<e.length;o++)e[o]&&n.push(e[o]);return n}castInput(e,n){return e}tokenize(e,n){return Array.from(e)}join(e){return e.join("")}postProcess(e,n){return e}get useLongestToken(){return!1}buildValues(e,n,o){let s=[],r;for(;e;)s.push(e),r=e.previousComponent,delete e.previousComponent,e=r;s.reverse();let i=s.length,a=0,c=0,f=0;for(;a<i;a++){let u=s[a];if(u.removed)u.value=this.join(o.slice(f,f+u.count)),f+=u.count;else{if(!u.added&&this.useLongestToken){let _=n.slice(c,c+u.count);_=_.map(function(p,l){let $=o[f+l];return $.length>p.length?$:p}),u.value=this.join(_)}else u.value=this.join(n.slice(c,c+u.count));c+=u.count,u.added||(f+=u.count)}}return s}};function Xe(t,e){let n;for(n=0;n<t.length&&n<e.length;n++)if(t[n]!=e[n])return t.slice(0,n);return t.slice(0,n)}function Qe(t,e){let n;if(!t||!e||t[t.length-1]!=e[e.length-1])return"";for(n=0;n<t.length&&n<e.length;n++)if(t[t.length-(n+1)]!=e[e.length-(n+1)])return t.slice(-n);return t.slice(-n)}function xe(t,e,n){if(t.slice(0,e.length)!=e)throw Error(`string ${JSON.stringify(t)} doesn't start with prefix ${JSON.stringify(e)}; this is a bug`);return n+t.slice(e.length)}function Ce(t,e,n){if(!e)return t+n;if(t.slice(-e.length)!=e)throw Error(`string ${JSON.stringify(t)} doesn't end with suffix ${JSON.stringify(e)}; this is a bug`);return t.slice(0,-e.length)+n}function K(t,e){return xe(t,e,"")}function ae(t,e){return Ce(t,e,"")}function Ze(t,e){return e.slice(0,Vn(t,e))}function Vn(t,e){let n=0;t.length>e.length&&(n=t.length-e.length);let o=e.length;t.length<e.length&&(o=t.length);let s=Array(o),r=0;s[0]=0;for(let i=1;i<o;i++){for(e[i]==e[r]?s[i]=s[r]:s[i]=r;r>0&&e[i]!=e[r];)r=s[r];e[i]==e[r]&&r++}r=0;for(let i=n;i<t.length;i++){for(;r>0&&t[i]!=e[r];)r=s[r];t[i]==e[r]&&r++}return r}function Ke(t,e){let n=[];for(let o of Array.from(e.segment(t))){let s=o.segment;n.length&&/\s/.test(n[n.length-1])&&/\s/.test(s)?n[n.length-1]+=s:n.push(s)}return n}function Se(t,e){if(e)return ee(t,e)[1];let n;for(n=t.length-1;n>=0&&t[n].match(/\s/);n--);return t.substring(n+1)}function Z(t,e){if(e)return ee(t,e)[0];let n=t.match(/^\s*/);return n?n[0]:""}function ee(t,e){if(!e)return[Z(t),Se(t)];if(e.resolvedOptions().granularity!="word")throw new Error('The segmenter passed must have a granularity of "word"');let n=Ke(t,e),o=n[0],s=n[n.length-1],r=/\s/.test(o)?o:"",i=/\s/.test(s)?s:"";return[r,i]}var Pe="a-zA-Z0-9_\\u{AD}\\u{C0}-\\u{D6}\\u{D8}-\\u{F6}\\u{F8}-\\u{2C6}\\u{2C8}-\\u{2D7}\\u{2DE}-\\u{2FF}\\u{1E00}-\\u{1EFF}",zn=new RegExp(`[${Pe}]+|\\s+|[^${Pe}]`,"ug"),et=class extends B{equals(e,n,o){return o.ignoreCase&&(e=e.toLowerCase(),n=n.toLowerCase()),e.trim()===n.trim()}tokenize(e,n={}){let o;if(n.intlSegmenter){let i=n.intlSegmenter;if(i.resolvedOptions().granularity!="word")throw new Error('The segmenter passed must have a granularity of "word"');o=Ke(e,i)}else o=e.match(zn)||[];let s=[],r=null;return o.forEach(i=>{/\s/.test(i)?r==null?s.push(i):s.push(s.pop()+i):r!=null&&/\s/.test(r)?s[s.length-1]==r?s.push(s.pop()+i):s.push(r+i):s.push(i),r=i}),s}join(e){return e.map((n,o)=>o==0?n:n.replace(/^\s+/,"")).join("")}postProcess(e,n){if(!e||n.oneChangePerToken)return e;let o=null,s=null,r=null;return e.forEach(i=>{i.added?s=i:i.removed?r=i:((s||r)&&Kt(o,r,s,i,n.intlSegmenter),o=i,s=null,r=null)}),(s||r)&&Kt(o,r,s,null,n.intlSegmenter),e}},Yn=new et;function Kt(t,e,n,o,s){if(e&&n){let[r,i]=ee(e.value,s),[a,c]=ee(n.value,s);if(t){let f=Xe(r,a);t.value=Ce(t.value,a,f),e.value=K(e.value,f),n.value=K(n.value,f)}if(o){let f=Qe(i,c);o.value=xe(o.value,c,f),e.value=ae(e.value,f),n.value=ae(n.value,f)}}else if(n){if(t){let r=Z(n.value,s);n.value=n.value.substring(r.length)}if(o){let r=Z(o.value,s);o.value=o.value.substring(r.length)}}else if(t&&o){let r=Z(o.value,s),[i,a]=ee(e.value,s),c=Xe(r,i);e.value=K(e.value,c);let f=Qe(K(r,c),a);e.value=ae(e.value,f),o.value=xe(o.value,r,f),t.value=Ce(t.value,r,r.slice(0,r.length-f.length))}else if(o){let r=Z(o.value,s),i=Se(e.value,s),a=Ze(i,r);e.value=ae(e.value,a)}else if(t){let r=Se(t.value,s),i=Z(e.value,s),a=Ze(r,i);e.value=K(e.value,a)}}var tt=class extends B{tokenize(e){let n=new RegExp(`(\\r?\\n)|[${Pe}]+|[^\\S\\n\\r]+|[^${Pe}]`,"ug");return e.match(n)||[]}},en=new tt;function nt(t,e,n){return en.diff(t,e,n)}var ot=class extends B{constructor(){super(...arguments),this.tokenize=Gn}equals(e,n,o){return o.ignoreWhitespace?((!o.newlineIsToken||!e.includes(`
`))&&(e=e.trim()),(!o.newlineIsToken||!n.includes(`
`))&&(n=n.trim())):o.ignoreNewlineAtEof&&!o.newlineIsToken&&(e.endsWith(`
`)&&(e=e.slice(0,-1)),n.endsWith(`
`)&&(n=n.slice(0,-1))),super.equals(e,n,o)}},tn=new ot;function rt(t,e,n){return tn.diff(t,e,n)}function Gn(t,e){e.stripTrailingCr&&(t=t.replace(/\r\n/g,`
`));let n=[],o=t.split(/(\n|\r\n)/);o[o.length-1]||o.pop();for(let s=0;s<o.length;s++){let r=o[s];s%2&&!e.newlineIsToken?n[n.length-1]+=r:n.push(r)}return n}var nn=3,Xn=40,on=300;function rn({dialog:t,path:e,file:n,onSave:o,onSettle:s,onClose:r}){let i=I(null);M(()=>{i.current.showModal()},[]);let a=n.problems.filter(u=>u.severity==="error"&&u.path===e).length,c=t.kind==="conflict",f=c?t.disk.text:n.saved;return d`
    <dialog class="ed-dialog" ref=${i} onClose=${r} aria-labelledby="ed-dialog-title">
      <h2 id="ed-dialog-title">${c?"Changed on disk":`Changes to ${e}`}</h2>
      ${t.message&&d`<p class="error" role="alert">${t.message}</p>`}
      ${c?d`<p>Below: what is on disk now (−), and what you have here (+).</p>`:a>0&&d`<p class="fail">✗ With ${a} ${a===1?"error":"errors"} it cannot be used until ${a===1?"it is":"they are"} corrected.</p>`}
      <${Qn} before=${f} after=${n.text} />
      <div class="ed-buttons">
        ${c?d`
              <button onClick=${()=>s(t.disk,!0)}>Keep mine, and look at the changes again</button>
              <button onClick=${()=>s(t.disk,!1)}>Discard mine, take the file on disk</button>`:d`<button class="ed-save" autofocus onClick=${o}>${a?`Save with ${a} ${a===1?"error":"errors"}`:"Save"} <kbd>Ctrl+S</kbd></button>`}
        <button onClick=${()=>i.current.close()}>Cancel</button>
      </div>
    </dialog>`}function Qn({before:t,after:e}){let n=rt(t,e,{timeout:on});if(!n)return d`<p class="note">The texts have too little in common to be compared line by line.</p>`;let o=[];return n.forEach((s,r)=>{let i=s.value.replace(/\n$/,"").split(`
`);if(!s.added&&!s.removed){o.push(...Zn(i,r===0,r===n.length-1));return}let a=s.removed?n[r+1]:n[r-1],f=a&&(s.removed?a.added:a.removed)&&a.count===s.count&&s.count<=Xn?a.value.replace(/\n$/,"").split(`
`):[];i.forEach((u,_)=>o.push({sign:s.removed?"−":"+",line:u,other:f[_]}))}),d`
    <div class="ed-diff" tabindex="0" role="region" aria-label="Changed lines">
      ${o.map(s=>{if(s.folded)return d`<div class="ed-fold">${s.folded} unchanged lines</div>`;if(!s.sign)return d`<div><span>  </span>${s.line}</div>`;let r=s.sign==="+"?"ins":"del";return d`<${r} class="ed-line"><span class="hidden">${s.sign==="+"?"added: ":"removed: "}</span><span aria-hidden="true">${s.sign} </span><${Kn} row=${s} /></${r}>`})}
    </div>`}function Zn(t,e,n){let o=e?0:nn,s=n?0:nn;return t.length<=o+s+1?t.map(r=>({line:r})):[...t.slice(0,o).map(r=>({line:r})),{folded:t.length-o-s},...s?t.slice(-s).map(r=>({line:r})):[]]}function Kn({row:t}){let e=t.sign==="+",n=t.other===void 0?null:nt(e?t.other:t.line,e?t.line:t.other,{timeout:on});return n?n.filter(o=>e?!o.removed:!o.added).map(o=>o.added||o.removed?d`<mark>${o.value}</mark>`:o.value):t.line}var eo=300,to=/^\/edit(?:\/(.+))?$/;function ln(){let t=to.exec(location.pathname),e=document.getElementById("main");if(!t||!Ve()||!e)return;let n=document.createElement("div"),o=t[1]&&t[1].split("/").map(decodeURIComponent).join("/");for(;e.querySelector("h1").nextSibling;)e.querySelector("h1").nextSibling.remove();e.append(n),document.querySelector(".skip").textContent="Skip to the editor",ve(d`<${no} path=${o} />`,n)}function Te(){return new URLSearchParams(location.hash.slice(1))}function sn(t){let e=Te();for(let[n,o]of Object.entries(t))o===null?e.delete(n):e.set(n,o);history.replaceState(null,"",`#${e}`)}function cn(){let t=matchMedia("(max-width: 44rem)"),[e,n]=C(t.matches);return M(()=>{let o=()=>n(t.matches);return t.addEventListener("change",o),()=>t.removeEventListener("change",o)},[]),e}function no({path:t}){let[e,n]=C(null),[o,s]=C(""),r=()=>F("/api/edit/files",{}).then(n,c=>s(c.message));M(()=>{r()},[]);let i=cn();if(o)return d`<p class="error" role="alert">${o}</p>`;if(!t)return d`<${oo} listing=${e} />`;let a=d`<${ro} listing=${e} path=${t} />`;return d`
    <div class="editor">
      <nav class="ed-files" aria-label="Files" aria-busy=${!e}>
        ${i?d`<details><summary>Files of ${e?.folder}</summary>${a}</details>`:a}
      </nav>
      <div class="ed-work"><${so} path=${t} listing=${e} onSaved=${r} /></div>
    </div>`}function oo({listing:t}){return t?t.files.length?d`
    <p>Each change is checked as <code>judgekit validate</code> and <code>judgekit lint</code> check it; nothing is written before you save.</p>
    <div class="wide"><table>
      <thead><tr><th scope="col">file</th><th scope="col">type</th><th scope="col">problems</th></tr></thead>
      <tbody>
        ${t.files.map(e=>d`
          <tr key=${e.path}>
            <th scope="row"><a href=${st(e.path)}><bdi>${e.path}</bdi></a></th>
            <td>${e.kind}</td>
            <td>${e.n_errors||e.n_warnings?d`<${dn} file=${e} />`:d`<span class="pass">✓ none</span>`}</td>
          </tr>`)}
      </tbody>
    </table></div>
    <${un} files=${t.files} />`:d`<p>There are no files of judgekit in this folder. <code>judgekit init</code> makes a suite to begin with.</p>`:d`<p class="note" aria-busy="true">Reading the folder …</p>`}function un({files:t}){let e=t.find(n=>n.command);return e&&d`<p class="note">To run it: <code>${e.command}</code></p>`}function ro({listing:t,path:e}){return t?d`
    <p class="ed-folder"><a href="/edit">${t.folder}</a></p>
    <ul>
      ${t.files.map(n=>d`
        <li key=${n.path}>
          <a href=${st(n.path)} aria-current=${n.path===e?"page":null}><bdi>${n.path}</bdi></a>
          <span class="note">${n.kind} <${dn} file=${n} /></span>
        </li>`)}
    </ul>
    <${un} files=${t.files} />`:d`<p class="note">Reading the folder …</p>`}function dn({file:t}){let e=[];return t.n_errors&&e.push(d`<span class="fail">✗ ${an(t.n_errors,"error")}</span>`),t.n_warnings&&e.push(d`<span class="inconclusive">! ${an(t.n_warnings,"warning")}</span>`),e}function an(t,e){return`${t} ${e}${t===1?"":"s"}`}function st(t){return`/edit/${t.split("/").map(encodeURIComponent).join("/")}`}function so({path:t,listing:e,onSaved:n}){let[o,s]=C(null),r=I(null),[i,a]=C(""),[c,f]=C(Te().get("view")),[u,_]=C(Te().get("case")),[p,l]=C(null),[$,h]=C(""),[y,b]=C(null),m=I({timer:0,number:0}),w=I(Promise.resolve()),g=I(null),E=cn(),T=k=>s(r.current={...r.current,...k}),L=async()=>{try{let k=await F("/api/edit/open",{path:t});T({...k,saved:k.text});let W=Number(Te().get("line"));W&&it(W)}catch(k){a(k.message)}};M(()=>{L()},[t]);let D=!!(o&&o.text!==o.saved);M(()=>{if(document.title=`${D?"* ":""}${t}`,!D)return;let k=W=>W.preventDefault();return addEventListener("beforeunload",k),()=>removeEventListener("beforeunload",k)},[D]);let v=async()=>{let k=++m.current.number,{text:W}=r.current;try{let V=await F("/api/edit/check",{path:t,text:W});k===m.current.number&&W===r.current.text&&T(V),a("")}catch(V){a(V.message)}},x=k=>{h(""),T({text:k}),clearTimeout(m.current.timer),m.current.timer=setTimeout(v,eo)},P=(k,W,V=null)=>{let ce=w.current.then(async()=>{let R,ut;do R=r.current.text,ut=await F("/api/edit/change",{path:t,text:R,kind:k,where:W,value:V});while(R!==r.current.text);m.current.number++,T(ut),a(""),h("")});return w.current=ce.catch(R=>a(R.message)),ce.then(()=>!0,()=>!1)},A=k=>{f(k),sn({view:k})},j=k=>{_(k),sn({case:k})},it=k=>{A("text"),b({line:k})},at=!!o&&!o.is_recorded&&!E,lt=async()=>{at&&(g.current=document.activeElement,g.current?.blur(),clearTimeout(m.current.timer),await w.current,await v(),r.current.text===r.current.saved?h("There are no changes to save."):l({kind:"save"}))},Oe=()=>{l(null),g.current?.focus()},ct=async()=>{let{text:k,version:W,problems:V}=r.current,ce=V.some(R=>R.severity==="error");try{let R=await F("/api/edit/save",{path:t,text:k,version:W,allow_errors:ce});T({saved:k,version:R.version}),Oe(),h("Saved."),n()}catch(R){R instanceof X&&R.status===409?l({kind:"conflict",disk:R.reply,message:R.message}):l({kind:"save",message:R.message})}},_n=(k,W)=>{T({saved:k.text,version:k.version}),Oe(),W||T({text:k.text}),v()};if(M(()=>{let k=W=>{!(W.ctrlKey||W.metaKey)||W.key.toLowerCase()!=="s"||(W.preventDefault(),p?.kind==="save"?ct():p||lt())};return addEventListener("keydown",k),()=>removeEventListener("keydown",k)}),!o)return i?d`<p class="error" role="alert">${i}</p>`:d`<p class="note" aria-busy="true">Opening …</p>`;let le=o.is_recorded||E,Ne=io(o),te=Ne.some(k=>k.name===c)?c:Ne[0].name,pn=o.problems.filter(k=>k.path===t);return d`
    <div class="ed-bar">
      <div role="group" aria-label="View" class="ed-views">
        ${Ne.map(k=>d`<button aria-pressed=${String(k.name===te)} onClick=${()=>A(k.name)}>${k.label}</button>`)}
      </div>
      <span class="ed-state" role="status">${$||(D?"Not saved":"")}</span>
      ${at&&d`<button class="ed-save" disabled=${!D} onClick=${lt}>Save … <kbd>Ctrl+S</kbd></button>`}
    </div>
    ${E&&d`<p class="ed-narrow">This window is too narrow for editing: files can be read here, and edited in a wider one.</p>`}
    ${o.is_recorded&&d`<p class="ed-narrow">This file holds recorded ${o.kind==="recorded replies"?"replies":"results"}: it can be read, but not edited.</p>`}
    ${i&&d`<p class="error" role="alert">${i}</p>`}
    <${lo} file=${o} path=${t} onJump=${it} />
    <div class="ed-panes">
      <div class="ed-pane">
        ${te==="text"?d`<${Ht} path=${t} text=${o.text} problems=${pn} isReadOnly=${le} target=${y} onInput=${x} />`:d`<div class="ed-form">
              ${te==="cases"&&d`<${Yt} file=${o} caseId=${u} onCase=${j} change=${P} isReadOnly=${le} />`}
              ${te==="rubric"&&d`<${Gt} data=${o.data} change=${P} isReadOnly=${le} />`}
              ${te==="suite"&&d`<${Xt} data=${o.data} profiles=${o.profiles} change=${P} isReadOnly=${le} />`}
            </div>`}
      </div>
      ${e&&d`<${Zt} path=${t} file=${o} listing=${e} caseId=${u} onCase=${j} isReadOnly=${E} />`}
    </div>
    ${p&&d`<${rn} dialog=${p} path=${t} file=${o}
      onSave=${ct} onSettle=${_n} onClose=${Oe} />`}
  `}function io(t){let e=[];return t.form==="rubric"&&Array.isArray(t.data?.criteria)&&e.push({name:"rubric",label:"Criteria"}),t.form==="suite"&&e.push({name:"suite",label:"Suite"}),t.cases_at&&e.push({name:"cases",label:"Cases"}),[...e,{name:"text",label:"Text"}]}var ao={error:"✗",warning:"!"};function lo({file:t,path:e,onJump:n}){let o=I(null);ie(()=>{o.current.textContent!==t.summary&&(o.current.textContent=t.summary)},[t.summary]);let s=t.problems.some(r=>r.severity==="error")?"fail":t.problems.length?"inconclusive":"pass";return d`
    <section class=${`ed-problems ${s}`} aria-label="Problems">
      <p><span>${t.kind}: </span><strong role="status" ref=${o}></strong></p>
      ${t.problems.length>0&&d`
        <ul>
          ${t.problems.map(r=>d`
            <li>
              <span class=${r.severity==="error"?"fail":"inconclusive"}>${ao[r.severity]} ${r.severity}</span>${" "}
              <${co} problem=${r} path=${e} onJump=${n} />${" "}
              <bdi>${r.message}</bdi>${r.remedy&&d` <span class="note">(${r.remedy})</span>`}
              ${r.rule&&d` <code>${r.rule}</code>`}
            </li>`)}
        </ul>`}
    </section>`}function co({problem:t,path:e,onJump:n}){let o=t.line===null?"":`line ${t.line}`;if(t.path===e)return o&&d`<button class="ed-link" onClick=${()=>n(t.line)}>${o}</button>`;if(!t.path)return null;let s=t.line===null?"":`#view=text&line=${t.line}`;return d`<a href=${st(t.path)+s}><bdi>${t.path}</bdi> ${o}</a>`}var fn=St(),Ee=document.getElementById("cases");if(fn&&Ee){let t=Ee.querySelector("h2, h3")?.textContent??"Cases";Ee.replaceChildren(),ve(d`<${At} index=${fn} title=${t} />`,Ee)}ln();})();
