/* judgekit, with preact, htm, diff: licences in LICENSES.txt */
(()=>{var F,mn,hs,ge,Ct,nt,$n,Ze,hn,Et,St,gs,Be=Symbol.for("pv"),ot={},st=[],_s=/^m(i|n|o|s|text|space)$/,Tt=Array.isArray,Pt=st.slice,xe=Object.assign;function ke(e){e&&e.parentNode&&e.remove()}function gn(e,t,n){var o,s,r,a={},c=arguments.length;for(r in t)r=="key"?o=t[r]:r=="ref"&&typeof e!="function"?s=t[r]:a[r]=t[r];return c>2&&(a.children=c>3?Pt.call(arguments,2):n),Fe(e,a,o,s,null)}function Fe(e,t,n,o,s){var r={type:e,props:t,key:n,ref:o,__k:null,__:null,__b:0,__e:null,__c:null,constructor:Be,__v:s||++mn,__i:-1,__u:0};return!s&&F.vnode&&F.vnode(r),r}function rt(e){return e.children}function et(e,t){this.props=e,this.context=t,this.__g=0}function _e(e,t){if(t==null)return e.__&&_e(e.__,e.__i+1);for(var n;t<e.__k.length;t++)if((n=e.__k[t])&&n.__e)return n.__e;return typeof e.type!="function"||e.props.__P?null:_e(e)}function bs(e){var t,n=e.__v,o=n.__e,s=[],r=[],a=e.__P;a&&((t=xe({constructor:Be},n)).__v=n.__v+1,F.vnode&&F.vnode(t),Ot(a,t,n,e.__n,a.namespaceURI,32&n.__u?[o]:null,s,o||_e(n),32&n.__u,r),t.__v=n.__v,t.__.__k[t.__i]=t,kn(s,t,r),n.__=n.__e=null,t.__e!=o&&_n(t))}function _n(e){if((e=e.__)&&e.__c&&!e.props.__P)return e.__e=null,e.__k.some(function(t){return t&&(e.__e=t.__e)}),_n(e)}function fn(e){(8&e.__g||(e.__g|=8,ge.push(e),nt++))&&Ct==F.debounceRendering||((Ct=F.debounceRendering)||queueMicrotask)(bn)}function bn(){try{for(var e,t=1;ge.length;)ge.length>t&&ge.sort($n),e=ge.shift(),t=ge.length,8&e.__g&&bs(e)}finally{(nt=ge.length)&&(Ct||queueMicrotask)(bn)}}function vn(e,t,n,o,s,r,a,c,u,f,d){var m,p,l,h,g,y,x=o.__k||st,_=t.length;for(u=vs(n,t,x,u,_),m=0;m<_;m++)(l=n.__k[m])!=null&&(p=~l.__i&&x[l.__i]||ot,l.__i=m,y=Ot(e,l,p,s,r,a,c,u,f,d),h=l.__e,(p.ref!=l.ref||8&p.__u)&&(p.ref&&Lt(p.ref,null,l,p),l.ref&&d.push(l.ref,l.__c||h,l)),g=g||h,4&l.__u?(u=yn(l,u,e,!p.__v),p.__e&&(p.__e=null)):typeof l.type=="function"&&y!==void 0?u=y:h&&(u=h.nextSibling),l.__u&=-21);return n.__e=g,u}function vs(e,t,n,o,s){var r,a,c,u,f,d,m,p,l,h=n.length,g=h,y=0,x=0,_=e.__k=Array(s);for(r=0;r<s;r++)(a=t[r])!=null&&typeof a!="boolean"&&typeof a!="function"?(typeof a!="object"||a.constructor===String?a=_[r]=Fe(null,a):Tt(a)?a=_[r]=Fe(rt,{children:a}):a.constructor===Be&&a.__b?a=_[r]=Fe(a.type,a.props,a.key,a.ref,a.__v):_[r]=a,u=r+y,a.__=e,a.__b=e.__b+1,c=null,~(f=a.__i=ys(a,n,u,g))&&(g--,(c=n[f])&&(c.__u|=2)),c&&c.__v?(a.__u|=16,f==u-1?y--:f==u+1?y++:f!=u&&(f>u?y--:y++,x=1)):(~f||(s>h?y--:s<h&&y++),typeof a.type!="function"&&(a.__u|=4))):_[r]=null;if(x){for(d=[],m=[],r=0;r<s;r++)if((a=_[r])&&16&a.__u){for(y=0,p=d.length;y<p;)d[l=y+p>>1]<a.__i?y=l+1:p=l;d[y]=a.__i,m[r]=y+1}for(y=d.length;r--;)m[r]&&(m[r]==y?y--:_[r].__u|=4)}if(g)for(r=0;r<h;r++)!(c=n[r])||2&c.__u||(c.__e==o&&(o=_e(c)),Mt(c,c));return o}function yn(e,t,n,o){var s,r,a,c;if(typeof e.type=="function"){if(e.props.__P)return t;if(s=e.__k)for(r=0;r<s.length;r++)s[r]&&(s[r].__=e,t=yn(s[r],t,n,!1));return t}for(t&&!t.parentNode&&(t=_e(e))&&!t.parentNode&&(t=null),a=e.__e,c=t;c&&c.nodeType==8;)c=c.nextSibling;for(a!=c&&(!o&&n.moveBefore&&a.parentNode?n.moveBefore(a,t):n.insertBefore(a,t||null)),t=a;(t=t&&t.nextSibling)&&t.nodeType==8&&!t.data.startsWith("$s"););return t}function ys(e,t,n,o){var s,r=e.key,a=e.type,c=t[n],u=c&&!(2&c.__u);if(c===null&&r==null||u&&r==c.key&&a==c.type)return n;if(o>(u?1:0)){for(s=n-1;s>=0;s--)if((c=t[s])&&!(2&c.__u)&&r==c.key&&a==c.type)return s;for(s=n+1;s<t.length;s++)if((c=t[s])&&!(2&c.__u)&&r==c.key&&a==c.type)return s}return-1}function pn(e,t,n){n==null&&(n=""),t[0]=="-"?e.setProperty(t,n):e[t]=n}function Xe(e,t,n,o,s){var r,a;if(t=="style")if(typeof n=="string")e.style.cssText=n;else{if(typeof o=="string"&&(e.style.cssText=o=""),o)for(t in o)n&&t in n||pn(e.style,t);if(n)for(t in n)o&&n[t]==o[t]||pn(e.style,t,n[t])}else if(t[0]=="o"&&t[1]=="n")typeof n!="function"&&(n=null),typeof o!="function"&&(o=null),(e.__e||(e.__e={}))[t]=n,n&&o||(a=St[t]||(St[t]=ws(t)),(e.__a||(e.__a={}))[t]=Et,r=t!=(t=t.replace(hn,"$1")),(t=t.slice(2))[0]<"a"&&(t=t.toLowerCase()),n?e.addEventListener(t,a,r):e.removeEventListener(t,a,r));else{if(s=="http://www.w3.org/2000/svg")t=t.replace(/xlink(H|:h)/,"h").replace(/sName$/,"s");else if(t!="width"&&t!="height"&&t!="href"&&t!="list"&&t!="form"&&t!="tabIndex"&&t!="download"&&t!="rowSpan"&&t!="colSpan"&&t!="role"&&t!="popover"&&t in e)try{return void(e[t]=n??"")}catch{}if(typeof n=="function")return;n==null||n===!1&&t[4]!="-"?e.removeAttribute(t):e.setAttribute(t,t=="popover"&&n==1?"":n)}}function ws(e){return function(t){var n=this.__e;if(n){if(n=n[e],t[Ze]==null)t[Ze]=Et++;else if(t[Ze]<this.__a[e])return;return n(F.event?F.event(t):t)}}}function Ot(e,t,n,o,s,r,a,c,u,f){var d,m,p,l,h,g,y,x,_,b,C,L,D,R,q,$,v,k,O=t.type;if(t.constructor!==Be)return null;128&n.__u&&(u=32&n.__u,d=n.__c.__z)&&(t.__u|=u,m=r=[],d.nodeType==8?c=tt(d,r):r.push(d),c=r[0]||c),(d=F.__b)&&d(t);e:if(typeof O=="function"){p=a.length;try{if(x=t.props,_=(d=O.prototype)&&d.render,b=(d=O.contextType)&&o[d.__c],C=d?b?b.props.value:d.__:o,(l=n.__c)?(t.__c=l,2&l.__g&&(l.__g|=1)):(_?t.__c=l=new O(x,C):(t.__c=l=new et(x,C),l.constructor=O,l.render=xs),b&&b.sub(l),l.state||(l.state={}),l.__n=o,l.__g|=8,l.__h=[],l.__k=[]),_&&(l.__s||(l.__s=l.state),O.getDerivedStateFromProps&&(l.__s==l.state&&(l.__s=xe({},l.__s)),xe(l.__s,O.getDerivedStateFromProps(x,l.__s)))),h=l.props,g=l.state,l.__v=t,n.__c){if(x!==h&&_&&!O.getDerivedStateFromProps&&l.componentWillReceiveProps&&l.componentWillReceiveProps(x,C),t.__v==n.__v&&!(8&l.__g)||!(4&l.__g)&&l.shouldComponentUpdate&&l.shouldComponentUpdate(x,l.__s,C)===!1){t.__v!=n.__v&&(l.props=x,l.state=l.__s,l.__g&=-9),t.__e=n.__e,t.__k=n.__k,t.__k.some(function(j){j&&(j.__=t)}),st.push.apply(l.__h,l.__k),l.__k=[],l.__h.length&&a.push(l),c=_e(n);break e}l.componentWillUpdate&&l.componentWillUpdate(x,l.__s,C),_&&l.componentDidUpdate&&l.__h.push(function(){l.componentDidUpdate(h,g,y)})}else _&&!O.getDerivedStateFromProps&&l.componentWillMount&&l.componentWillMount(),_&&l.componentDidMount&&l.__h.push(l.componentDidMount);l.context=C,l.props=x,l.__P=e,l.__g&=-5,L=F.__r,D=_?25:0;do l.__g&=-9,L&&L(t),d=l.render(l.props,l.state=l.__s,l.context);while(8&l.__g&&++D<25);_&&(st.push.apply(l.__h,l.__k),l.__k=[]),l.state=l.__s,l.getChildContext&&(o=xe({},o,l.getChildContext())),_&&n.__c&&l.getSnapshotBeforeUpdate&&(y=l.getSnapshotBeforeUpdate(h,g)),R=d&&d.type===rt&&d.key==null?d.props.children:d,x.__P&&(d=c,s=(e=x.__P).namespaceURI,u=r=null,n.props&&n.props.__P!=e&&(n.__k.some(function(j){j&&Mt(j,j)}),n.__k=null),c=n.__k?_e(n,0):null),c=vn(e,Tt(R)?R:[R],t,n,o,s,r,a,c,u,f),x.__P&&(t.__e=null,c=d),t.__u&=-161,m&&m.some(ke),l.__h.length&&a.push(l),1&l.__g&&(l.__g&=-4)}catch(j){if(a.length=p,t.__v=null,u||r)if(j&&j.then){if(t.__u|=128|u,r){for(~(v=r.indexOf(c||void 0))||(v=r.length);(k=r[v-1])&&k.nodeType==8;)v--;for(;v<r.length;v++)if(k=r[v])if(r[v]=null,q){if(k==$)break}else{if(k.nodeType!=8)break;k.data.startsWith("$s")&&($=tt(q=k))}}if(!q){for(;c&&c.nodeType==8&&c.nextSibling;)c=c.nextSibling;q=c}(d=tt(q=t.__c.__z||(t.__c.__z=q)))?(t.__e=q,c=d):t.__e=c,c=c&&c.nextSibling}else r&&r.some(ke);else t.__e=n.__e;t.__k||(t.__k=n.__k||[]),j&&j.then||wn(t),F.__e(j,t,n)}}else c=t.__e=ks(n.__e,t,n,o,s,r,a,u,f,e);return(d=F.diffed)&&d(t),c}function tt(e,t){if(e&&e.nodeType==8&&e.data.startsWith("$s"))for(var n=1;e=e.nextSibling;){if(e.nodeType==8){if(e.data.startsWith("$s"))n++;else if(e.data.startsWith("/$s")&&!--n)return e}t&&t.push(e)}}function wn(e){e&&(e.__c&&(e.__c.__g|=4),e.__k&&e.__k.some(wn))}function kn(e,t,n){for(var o=0;o<n.length;)Lt(n[o++],n[o++],n[o++]);F.__c&&F.__c(t,e),e.some(function(s){try{e=s.__h,s.__h=[],e.some(function(r){r.call(s)})}catch(r){F.__e(r,s.__v)}})}function ks(e,t,n,o,s,r,a,c,u,f){var d,m,p,l,h,g,y,x,_=n.props||ot,b=t.props,C=t.type;if(C=="svg"?s="http://www.w3.org/2000/svg":C=="math"?s="http://www.w3.org/1998/Math/MathML":s||(s="http://www.w3.org/1999/xhtml"),r){for(d=0;d<r.length;d++)if((h=r[d])&&(C?h.localName==C:h.nodeType==3)){e=h,r[d]=null;break}}if(!e){if(x=f.ownerDocument||document,!C)return x.createTextNode(b);e=x.createElementNS(s,C,b.is?b:f),c&&(F.__m&&F.__m(t,r),c=!1),r=null}if(C){if(f=C=="template"&&e.content||e,r=C=="textarea"&&b.defaultValue!=null?null:r&&Pt.call(f.childNodes),!c&&r)for(_={},d=0;d<e.attributes.length;d++)_[(h=e.attributes[d]).name]=h.value;for(d in _)h=_[d],d=="dangerouslySetInnerHTML"?p=h:d=="children"||d in b||d=="value"&&"defaultValue"in b||d=="checked"&&"defaultChecked"in b||Xe(e,d,null,h,s);for(d in b)h=b[d],d=="children"?l=h:d=="dangerouslySetInnerHTML"?m=h:d=="value"?g=h:d=="checked"?y=h:c&&typeof h!="function"||_[d]===h||Xe(e,d,h,_[d],s);m?(c||p&&(m.__html==p.__html||m.__html==e.innerHTML)||(e.innerHTML=m.__html),t.__k=[]):(p&&(e.textContent=""),(C=="foreignObject"||s=="http://www.w3.org/1998/Math/MathML"&&_s.test(C))&&(s="http://www.w3.org/1999/xhtml"),vn(f,Tt(l)?l:[l],t,n,o,s,r,a,r?r[0]:n.__k&&_e(n,0),c,u),r&&r.some(ke)),c&&C!="textarea"||(d="value",C=="progress"&&g==null?e.removeAttribute(d):g==null||g===e[d]&&(C!="progress"||g)||Xe(e,d,g,_[d],s),d="checked",y!=null&&y!=e[d]&&Xe(e,d,y,_[d],s))}else _===b||c&&e.data==b||(e.data=b);return e}function Lt(e,t,n,o){try{typeof e=="function"?t?t.__x=e(t)||1:o&&(o=o.__c||o.__e)&&(t=o.__x)&&(o.__x=null,typeof t=="function"?t():e(null)):e.current=t}catch(s){F.__e(s,n)}}function Mt(e,t,n){var o,s,r,a;if(F.unmount&&F.unmount(e),!(o=e.ref)||o.current&&o.current!=e.__e||Lt(o,null,t,e),o=e.__c){if(o.componentWillUnmount)try{o.componentWillUnmount()}catch(c){F.__e(c,t)}o.__P=o.__n=null}if(o=e.__k)for(a=0;a<o.length;a++)o[a]&&Mt(o[a],t,typeof e.type!="function"||n&&!e.props.__P);!n&&(o=e.__c)&&(o=o.__z)&&(s=tt(o,r=[]))&&(o==e.__e&&r.some(ke),ke(s),ke(o)),n||ke(e.__e),e.__e=e.__c=e.__=null}function xs(e,t,n){return this.constructor(e,n)}function ne(e,t){var n,o,s,r;F.__&&F.__(e,t),t.nodeType==9&&(t=t.documentElement),o=(n=e&&32&e.__u)?null:t.__k,t.__k=Fe(rt,{children:[e]}),s=[],r=[],Ot(t,t.__k,o||ot,ot,t.namespaceURI,o?null:t.firstChild?Pt.call(t.childNodes):null,s,o?o.__e:t.firstChild,n,r),kn(s,t.__k,r),t.__k.props.children=null}F={__e:function(e,t,n,o){for(var s,r,a;t=t.__;)if((s=t.__c)&&!(1&s.__g)){s.__g|=4;try{if((a=(r=s.constructor)&&r.getDerivedStateFromError)&&s.setState(r.getDerivedStateFromError(e)),s.componentDidCatch&&(s.componentDidCatch(e,o||{}),a=1),a&&8&s.__g)return void(s.__g|=2)}catch(c){e=c}}throw nt=0,e}},mn=0,hs=function(e){return e!=null&&e.constructor===Be},et.prototype.setState=function(e,t){var n=this.__s;n&&n!=this.state||(n=this.__s=xe({},this.state)),typeof e=="function"&&(e=e(xe({},n),this.props)),e&&(xe(n,e),this.__v&&(t&&this.__k.push(t),fn(this)))},et.prototype.forceUpdate=function(e){this.__v&&(this.__g|=4,e&&this.__h.push(e),fn(this))},et.prototype.render=rt,ge=[],nt=0,$n=function(e,t){return e.__v.__b-t.__v.__b},Ze=Symbol(),hn=/(PointerCapture)$|Capture$/i,Et=0,St={},gs=0;var Cn=function(e,t,n,o){var s;t[0]=0;for(var r=1;r<t.length;r++){var a=t[r++],c=t[r]?(t[0]|=a?1:2,n[t[r++]]):t[++r];a===3?o[0]=c:a===4?o[1]=Object.assign(o[1]||{},c):a===5?(o[1]=o[1]||{})[t[++r]]=c:a===6?o[1][t[++r]]+=c+"":a?(s=e.apply(c,Cn(e,c,n,["",null])),o.push(s),c[0]?t[0]|=2:(t[r-2]=0,t[r]=s)):o.push(c)}return o},xn=new Map;function Sn(e){var t=xn.get(this);return t||(t=new Map,xn.set(this,t)),(t=Cn(this,t.get(e)||(t.set(e,t=(function(n){for(var o,s,r=1,a="",c="",u=[0],f=function(p){r===1&&(p||(a=a.replace(/^\s*\n\s*|\s*\n\s*$/g,"")))?u.push(0,p,a):r===3&&(p||a)?(u.push(3,p,a),r=2):r===2&&a==="..."&&p?u.push(4,p,0):r===2&&a&&!p?u.push(5,0,!0,a):r>=5&&((a||!p&&r===5)&&(u.push(r,0,a,s),r=6),p&&(u.push(r,p,0,s),r=6)),a=""},d=0;d<n.length;d++){d&&(r===1&&f(),f(d));for(var m=0;m<n[d].length;m++)o=n[d][m],r===1?o==="<"?(f(),u=[u],r=3):a+=o:r===4?a==="--"&&o===">"?(r=1,a=""):a=o+a[0]:c?o===c?c="":a+=o:o==='"'||o==="'"?c=o:o===">"?(f(),r=1):r&&(o==="="?(r=5,s=a,a=""):o==="/"&&(r<5||n[d][m+1]===">")?(f(),r===3&&(u=u[0]),r=u,(u=u[0]).push(2,0,r),r=0):o===" "||o==="	"||o===`
`||o==="\r"?(f(),r=2):a+=o),r===3&&a==="!--"&&(r=4,u=u[0])}return f(),u})(e)),t),arguments,[])).length>1?t:t[0]}var i=Sn.bind(gn);var Cs="judgekit-page/1";function En(e){return(Math.abs(e*8%2)===1?Math.round(e*50)/50:e).toFixed(2)}function Tn(){let e=document.getElementById("page-index");if(!e)return null;let t=JSON.parse(e.textContent);return t.format===Cs?t:null}async function Ss(e){let t=Uint8Array.from(atob(e),o=>o.charCodeAt(0)),n=new Blob([t]).stream().pipeThrough(new DecompressionStream("gzip"));return JSON.parse(await new Response(n).text())}async function Es(e){let t=await fetch(e).catch(()=>{throw new Error("judgekit view does not answer")});if(t.ok)return t.json();let n=t.headers.get("content-type")?.startsWith("application/json");throw new Error((n?(await t.json()).error:await t.text())||`the server answered ${t.status}`)}var Ce=new Map,Ts=8;function Pn(e){let t=Ce.get(e);if(!t){let n=document.getElementById(`chunk-${e}`),o=document.getElementById("page-index").dataset.chunks;t=n?Ss(n.textContent):Es(`${o}${e}`),t.catch(()=>Ce.delete(e))}return Ce.delete(e),Ce.set(e,t),Ce.size>Ts&&Ce.delete(Ce.keys().next().value),t}async function On(e,t){return(await Pn(Math.floor(t/e.chunk)))[t%e.chunk]}var At=[],Ps=new Set(["tone","match","src"]);function*Ln(e){if(typeof e=="string")yield e;else if(e&&typeof e=="object")for(let[t,n]of Object.entries(e))Ps.has(t)||(yield*Ln(n))}function jt(e,t){return At[t*e.chunk]!==void 0}async function Mn(e,t){let n=t*e.chunk;return jt(e,t)||(await Pn(t)).forEach((s,r)=>{At[n+r]=[...Ln(s)].join(`
`).toLowerCase()}),At.slice(n,n+e.chunk)}var Se,K,It,An,Nt=Object.is,He=0,Bn=[],Rt=[],H=F,jn=H.__b,In=H.__r,Nn=H.diffed,Rn=H.__c,Dn=H.unmount,Wn=H.__;function Ke(e,t){H.__h&&H.__h(K,e,He||t),He=0;var n=K.__H||(K.__H={__:[],__h:[]});return e>=n.__.length&&n.__.push({}),n.__[e]}function w(e){return He=1,Os(Hn,e)}function Os(e,t,n){var o=Ke(Se++,2);if(o.t=e,!o.__c&&(o.__=[n?n(t):Hn(void 0,t),function(r){var a=(o.__N||o.__)[0],c=o.t(a,r);Nt(a,c)||(o.__N=[c,o.__[1]],o.__c.setState({}))}],o.__c=K,!K.__f)){K.__f=!0;var s=K.shouldComponentUpdate;K.shouldComponentUpdate=function(r,a,c){var u=this.__H;if(!u)return!0;var f=!1,d=this.props!=r;if(u.__.some(function(p){p.__N&&(f=!0,Nt(p.__[0],p.__N[0])||(d=!0))}),s){var m=s.call(this,r,a,c);return f?m||d:m}return!f||d}}return o.__}function N(e,t){var n=Ke(Se++,3);!H.__s&&Wt(n.__H,t)&&(n.__P=!0,n.__=e,n.u=t,K.__H.__h.push(n))}function Y(e,t){var n=Ke(Se++,4);!H.__s&&Wt(n.__H,t)&&(n.__P=!1,n.__=e,n.u=t,K.__h.push(n))}function M(e){return He=5,J(function(){return{current:e}},[])}function J(e,t){var n=Ke(Se++,7);return Wt(n.__H,t)&&(n.__=e(),n.__H=t),n.__}function Un(e,t){return He=8,J(function(){return e},t)}function be(){var e=Ke(Se++,11);if(!e.__){for(var t=K.__v;!t.__m&&t.__;)t=t.__;var n=t.__m||(t.__m=[0,0]);e.__="P"+n[0]+"-"+n[1]++}return e.__}function Ls(){var e;do{for(;e=Rt.shift();)try{Ue(e)}catch(n){H.__e(n,{__:(e=e.__P)&&e.__v})}for(;e=Bn.shift();){var t=e.__H;if(e.__P&&t)try{t.__h.some(Ue),t.__h.some(Dt),t.__h=[]}catch(n){t.__h=[],H.__e(n,e.__v)}}}while(Rt.length)}H.__b=function(e){K=null,jn&&jn(e)},H.__=function(e,t){e&&t.__k&&t.__k.__m&&(e.__m=t.__k.__m),Wn&&Wn(e,t)},H.__r=function(e){In&&In(e),Se=0;var t=(K=e.__c).__H;t&&(It==K?K.__h=[]:(t.__h.some(Ue),t.__h.some(Dt),Se=0),t.__h=[],t.__.some(function(n){n.__N&&(n.__=n.__N),n.u=n.__N=void 0})),It=K},H.diffed=function(e){Nn&&Nn(e);var t=e.__c;t&&t.__H&&(t.__H.__h.length&&Fn(Bn.push(t)),t.__H.__.some(function(n){n.u&&(n.__H=n.u)})),It=K=null},H.__c=function(e,t){t.some(function(n){try{n.__h.some(Ue),n.__h=n.__h.filter(function(o){return!o.__||Dt(o)})}catch(o){n.__h=[function(){throw o}]}}),Rn&&Rn(e,t)},H.unmount=function(e){Dn&&Dn(e);var t,n,o=e.__c;o&&o.__H&&(o.__H.__.some(function(s){try{if(s.__P&&s.__c){if(n===void 0){for(n=e.__;n&&(!n.__c||!n.__c.__P);)n=n.__;n=n&&n.__c}s.__P=n,Fn(Rt.push(s))}else Ue(s)}catch(r){t=r}}),o.__H=void 0,t&&H.__e(t,o.__v))};var qn=typeof requestAnimationFrame=="function";function Ms(e){var t,n=function(){clearTimeout(o),qn&&cancelAnimationFrame(t),setTimeout(e)},o=setTimeout(n,35);qn&&(t=requestAnimationFrame(n))}function Fn(e){e!=1&&An==H.requestAnimationFrame||((An=H.requestAnimationFrame)||Ms)(Ls)}function Ue(e){var t=K,n=e.__c;typeof n=="function"&&(e.__c=void 0,n()),K=t}function Dt(e){var t=K;e.__c=e.__(),K=t}function Wt(e,t){return!e||e.length!=t.length||t.some(function(n,o){return!Nt(n,e[o])})}function Hn(e,t){return typeof t=="function"?t(e):t}var Kn=["case","state","variant","tag","stratum","q","sort","answer","with"];function Ie(){let e=new URLSearchParams(location.hash.slice(1));return Object.fromEntries(Kn.filter(t=>e.get(t)).map(t=>[t,e.get(t)]))}function qt(e){let t=new URLSearchParams;for(let o of Kn)e[o]&&t.set(o,e[o]);let n=t.toString();return n?`#${n}`:""}function Ft(e){return location.href.split("#")[0]+qt(e)}function Jn(){let[e,t]=w(Ie);N(()=>{let o=()=>t(Ie());return addEventListener("popstate",o),addEventListener("hashchange",o),()=>{removeEventListener("popstate",o),removeEventListener("hashchange",o)}},[]);let n=Un((o,{push:s=!1}={})=>{let r={...Ie(),...o},a=Ft(r);s?history.pushState({pushed:!0},"",a):history.replaceState(history.state,"",a),t(Ie())},[]);return[e,n]}function ue(e){let[t,n]=w(()=>matchMedia(e).matches);return N(()=>{let o=matchMedia(e),s=()=>n(o.matches);return o.addEventListener("change",s),()=>o.removeEventListener("change",s)},[e]),t}var Vn=2,As=150;function js(e){return J(()=>e.ids.map((t,n)=>[t,e.snippets[n],e.strata[n]??"",...e.tags[n]].join(`
`).toLowerCase()),[e])}var Is=()=>new Promise(e=>{globalThis.requestIdleCallback?requestIdleCallback(e,{timeout:100}):setTimeout(e)});function zn(e,t){let n=(t??"").trim().toLowerCase(),o=js(e),s=J(()=>{if(!n)return null;let c=new Set;return o.forEach((u,f)=>u.includes(n)&&c.add(f)),c},[o,n]),[r,a]=w({needle:"",hits:new Set,share:1});return N(()=>{if(n.length<Vn)return;let c=!0,u=Math.ceil(e.n/e.chunk);async function f(){let d=new Set,m=performance.now();for(let p=0;p<u;p+=1){jt(e,p)||await Is();let l=await Mn(e,p);if(!c)return;l.forEach((g,y)=>g.includes(n)&&d.add(p*e.chunk+y));let h=performance.now();p+1<u&&h-m<As||(m=h,a({needle:n,hits:new Set(d),share:(p+1)/u}))}}return f().catch(d=>c&&a({needle:n,hits:new Set,share:1,error:d})),()=>{c=!1}},[e,n]),J(()=>s?r.needle!==n?{hits:s,share:n.length<Vn?1:0}:{hits:r.hits.union?.(s)??new Set([...s,...r.hits]),share:r.share,error:r.error}:{hits:null,share:1},[s,r,n])}function Ns(e,t){if(!t)return e.order;let n=t.startsWith("-"),o=n?t.slice(1):t,s=e.columns.indexOf(o.replace(/^variant:/,"")),r=n?-1:1;if(o==="case"){let f=new Intl.Collator(void 0,{numeric:!0}).compare;return[...e.order].sort((d,m)=>r*f(e.ids[d],e.ids[m]))}if(s<0)return e.order;let{value:a,state:c}=e.cells[s],u=a.some(f=>f!==null)?a:c;return[...e.order].sort((f,d)=>u[f]===null||u[d]===null?(u[f]===null)-(u[d]===null):r*(u[f]-u[d]))}function Gn(e,t,n){let o=J(()=>Ns(e,t.sort),[e,t.sort]);return J(()=>{let s=e.columns.indexOf(t.variant),r=s<0?null:e.cells[s],a=e.filters.find(d=>d.key===t.state)?.bit??0,c=Object.fromEntries(e.filters.map(d=>[d.key,0])),u=[],f=0;for(let d of o){if(n&&!n.has(d)||r&&r.state[d]===null||t.tag&&!e.tags[d].includes(t.tag)||t.stratum&&e.strata[d]!==t.stratum)continue;let m=r?r.mask[d]:e.masks[d];f+=1;for(let p of e.filters)m&p.bit&&(c[p.key]+=1);(!a||m&a)&&u.push(d)}return{rows:u,counts:c,all:f}},[e,o,t.state,t.variant,t.tag,t.stratum,n])}function Q(e,t,n=`${t}s`){return`${e.toLocaleString("en")} ${e===1?t:n}`}function Yn(e){let t=new Map;for(let n of e)t.set(n,(t.get(n)??0)+1);return[...t].sort(([n],[o])=>n.localeCompare(o))}function at({label:e,value:t,options:n,onChoose:o}){return i`<label class="choice">
    <span>${e}</span>
    <select value=${t??""} onChange=${s=>o(s.target.value)}>
      ${n.map(([s,r])=>i`<option value=${s} selected=${s===(t??"")}>${r}</option>`)}
    </select>
  </label>`}function Qn({filter:e,n:t,isOn:n,onClick:o}){return i`<button type="button" aria-pressed=${n} title=${e.title||null} disabled=${t===0&&!n} onClick=${o}>
    ${e.label} <span class="n">${t.toLocaleString("en")}</span>
  </button>`}function Xn({index:e,state:t,change:n,selection:o,search:s,searchBox:r,onFound:a,onHelp:c}){let u=ue("(max-width: 44rem)"),[f,d]=w(!1),m=J(()=>Yn(e.tags.flat()),[e]),p=J(()=>Yn(e.strata.filter(b=>b!==null)),[e]),l=b=>C=>n({[b]:C},{push:!0}),h=(b,C)=>[["",C],...b.map(([L,D])=>[L,`${L} (${D.toLocaleString("en")})`])],g=[["","what needs attention first"],["case","by case"],...e.columns.flatMap(b=>[[`variant:${b}`,`${b}, lowest first`],[`-variant:${b}`,`${b}, highest first`]])],y=["variant","tag","stratum","sort"].filter(b=>t[b]).length,x=b=>{b.key!=="Escape"&&b.key!=="Enter"||(b.preventDefault(),b.target.blur(),b.key==="Enter"&&a())},_=Math.floor(s.share*100);return i`<div class="filters" role="search" aria-label="Cases">
    <div class="states" role="group" aria-label="Show">
      <${Qn} filter=${{label:"All"}} n=${o.all} isOn=${!t.state}
        onClick=${()=>l("state")("")} />
      ${e.filters.map(b=>i`<${Qn} key=${b.key} filter=${b}
        n=${o.counts[b.key]} isOn=${t.state===b.key}
        onClick=${()=>l("state")(t.state===b.key?"":b.key)} />`)}
    </div>
    <div class="searching">
      <input type="search" ref=${r} value=${t.q??""} placeholder="Search ids and all texts"
        aria-label="Search ids and all texts" onInput=${b=>n({q:b.target.value})}
        onKeyDown=${x} />
      ${u&&i`<button type="button" aria-expanded=${f} onClick=${()=>d(!f)}>
        Filters${y>0&&` (${y})`}</button>`}
      <button type="button" onClick=${c} aria-label="Keyboard shortcuts" title="Keyboard shortcuts (?)">?</button>
    </div>
    ${(!u||f)&&i`<div class="choices">
      ${e.columns.length>1&&i`<${at} label="variant" value=${t.variant} onChoose=${l("variant")}
        options=${[["","any"],...e.columns.map(b=>[b,b])]} />`}
      ${m.length>0&&i`<${at} label="tag" value=${t.tag} onChoose=${l("tag")} options=${h(m,"any")} />`}
      ${p.length>0&&i`<${at} label="stratum" value=${t.stratum} onChoose=${l("stratum")} options=${h(p,"any")} />`}
      <${at} label="order" value=${t.sort} onChoose=${l("sort")} options=${g} />
    </div>`}
    <p class="count">
      <span role="status">${o.rows.length.toLocaleString("en")} of ${Q(e.n,"case")}</span>
      ${s.share<1&&i`<span class="progress">, searching all texts: ${_} %</span>`}
      ${s.error&&i`<span class="fail">, the texts could not be searched: ${s.error.message}</span>`}
      ${Rs(t)&&i` <button type="button" class="plain" onClick=${()=>n({state:"",variant:"",tag:"",stratum:"",q:"",sort:""},{push:!0})}>Show all</button>`}
    </p>
  </div>`}function Rs(e){return["state","variant","tag","stratum","q","sort"].some(t=>e[t])}var Ds=34,Ws=108,Zn=8;function qs(e,t){if(t===null)return 2;let n=e==="fail"?1-t:Math.abs(t);return 1+Math.min(3,Math.max(0,Math.floor(n*4)))}function Fs({index:e,column:t,row:n,isAt:o,tag:s="td"}){let r=e.cells[t],a=r.state[n],c=e.columns[t],u=s==="td"?"cell":null;if(a===null)return s==="td"&&i`<td role="cell" class=${o?"cell at":"cell"} data-column=${t}></td>`;let{label:f,sign:d,tone:m}=e.states[a],p=r.value[n],l=r.text[n]||(p===null?"":En(p));return i`<${s} role=${u} class=${`cell ${m}-fill s${qs(m,p)}${o?" at":""}`}
    data-column=${t} title=${`${c}: ${f}`}>
    ${s!=="td"&&i`<bdi class="name">${c}</bdi> `}
    <span class=${`sign ${m}`} aria-hidden="true">${d}</span> ${l||i`<span class="word">${f}</span>`}
    ${l&&i`<span class="hidden">, ${f}</span>`}
  <//>`}function eo({name:e,sortKey:t,state:n,change:o,className:s}){let r=n.sort===t,a=n.sort===`-${t}`,c=r?`-${t}`:a?"":t;return i`<th scope="col" role="columnheader" class=${s} aria-sort=${r?"ascending":a?"descending":null}>
    <button type="button" class="sort" title=${`Sort by ${e}`} onClick=${()=>o({sort:c},{push:!0})}>
      <bdi>${e}</bdi><span aria-hidden="true">${r?" ▲":a?" ▼":""}</span>
    </button>
  </th>`}function to({index:e,rows:t,state:n,change:o,active:s,setActive:r,column:a,openRow:c,focusing:u}){let f=M(null),d=M(!1),m=ue("(max-width: 44rem)"),p=m?Ws:Ds,[l,h]=w({top:0,height:800}),g=()=>{let{scrollTop:$,clientHeight:v}=f.current,k=Math.floor($/p)*p;h(O=>O.top===k&&O.height===v?O:{top:k,height:v})};Y(()=>{g();let $=new ResizeObserver(g);return $.observe(f.current),()=>$.disconnect()},[p,t.length]),Y(()=>{f.current.scrollTop=0},[n.state,n.variant,n.tag,n.stratum,n.q,n.sort]),Y(()=>{if(s<0)return;let{scrollTop:$,clientHeight:v}=f.current,k=s*p;k<$?f.current.scrollTop=k:k+2*p>$+v&&(f.current.scrollTop=k+2*p-v),g()},[s,p]);let y=Math.max(0,Math.floor(l.top/p)-Zn),x=Math.min(t.length,Math.ceil((l.top+l.height)/p)+Zn);N(()=>{if(u.current===s&&s>=y&&s<x){u.current=-1;let $=f.current.querySelector(`[data-place="${s}"]`);d.current=!0,$.querySelector("a").focus({preventScroll:!0}),d.current=!1,$.scrollIntoView({block:"nearest"})}});let _=e.tags.some($=>$.length>0)||e.strata.some($=>$!==null),b=$=>[e.strata[$],...e.tags[$]].filter(Boolean),C=2+(_?1:0)+e.columns.length,L=$=>i`<tr role="presentation" class="spacer" aria-hidden="true">
    <td role="presentation" colspan=${C} ref=${v=>v&&(v.style.height=`${$*p}px`)}></td></tr>`,D=$=>{$&&($.style.minWidth=m?"":`${(_?540:420)+108*e.columns.length}px`)},R=$=>{let v=$.target.closest("tr[data-row]");if(!v||$.ctrlKey||$.metaKey||$.shiftKey||!getSelection().isCollapsed)return;$.preventDefault();let k=$.target.closest("[data-column]")?.dataset.column;r(Number(v.dataset.place)),c(Number(v.dataset.row),k===void 0?void 0:e.columns[k])},q=e.columns.length<=4&&e.columns.some($=>$.length>12);return i`<div class=${q?"grid few":"grid"} ref=${f} onScroll=${g}>
    <table role="table" aria-label="Cases" aria-rowcount=${t.length+1} ref=${D} onClick=${R}>
      <colgroup><col class="c-id" /><col />${_&&i`<col class="c-tags" />`}
        ${e.columns.map(()=>i`<col class="c-value" />`)}</colgroup>
      <thead role="rowgroup"><tr role="row" aria-rowindex="1">
        <${eo} name="case" sortKey="case" state=${n} change=${o} />
        <th scope="col" role="columnheader">input</th>
        ${_&&i`<th scope="col" role="columnheader">tags</th>`}
        ${e.columns.map($=>i`<${eo} key=${$} name=${$} sortKey=${`variant:${$}`} state=${n} change=${o} />`)}
      </tr></thead>
      <tbody role="rowgroup">
        ${y>0&&L(y)}
        ${t.slice(y,x).map(($,v)=>{let k=y+v,O=k===s,j=S=>e.columns.map((P,E)=>i`<${Fs} key=${P} tag=${S} index=${e} column=${E} row=${$} isAt=${O&&E===a} />`);return i`<tr key=${$} role="row" data-row=${$} data-place=${k} aria-rowindex=${k+2} class=${O?"active":null}>
            <th scope="row" role="rowheader" class="id"><a href=${qt({...n,case:e.ids[$]})}
              tabindex=${O||s<0&&k===0?0:-1}
              onFocus=${()=>d.current||r(k)}><bdi>${e.ids[$]}</bdi></a></th>
            <td role="cell" class="snippet" dir="auto">${e.snippets[$]}</td>
            ${_&&i`<td role="cell" class="tags" title=${b($).join(", ")}>${b($).map(S=>i`<bdi class="tag">${S}</bdi> `)}</td>`}
            ${m?i`<td role="cell" class="cells">${j("span")}</td>`:j("td")}
          </tr>`})}
        ${x<t.length&&L(t.length-x)}
      </tbody>
    </table>
    ${t.length===0&&i`<p class="empty">${e.n===0?"There are no cases yet.":"No case matches. “Show all” removes the filters."}</p>`}
  </div>`}var no="judgekit-single-keys";function Bs(){try{return localStorage.getItem(no)!=="off"}catch{return!0}}function Us(e){try{localStorage.setItem(no,e?"on":"off")}catch{}}function oo(){let[e,t]=w(Bs);return[e,n=>{Us(n),t(n)}]}function de(e,t){let n=M(null);n.current=t?e:{},Y(()=>{let o=s=>{if(s.defaultPrevented||s.ctrlKey||s.metaKey||s.altKey||s.target.closest?.("input:not([type=checkbox]), select, textarea, [contenteditable]"))return;let r=n.current[s.key];r&&r()!==!1&&s.preventDefault()};return document.addEventListener("keydown",o),()=>document.removeEventListener("keydown",o)},[])}function Bt({label:e,className:t,onClose:n,children:o}){let s=M(null);return N(()=>{s.current.showModal(),s.current.focus()},[]),i`<dialog ref=${s} class=${t} aria-label=${e} tabindex="-1"
    onCancel=${r=>{r.preventDefault(),n()}}
    onClick=${r=>r.target===s.current&&n()}>${o}</dialog>`}function so({rows:e,isOn:t,setOn:n,onClose:o}){return i`<${Bt} label="Keyboard shortcuts" className="help" onClose=${o}>
    <div class="inside">
      <header><h2>Keyboard shortcuts</h2><button type="button" onClick=${o} aria-label="Close">✕</button></header>
      <table><tbody>${e.map(([s,r])=>i`<tr>
        <th scope="row">${s.split(" ").map(a=>i`<kbd>${a}</kbd> `)}</th><td>${r}</td></tr>`)}</tbody></table>
      <label class="check"><input type="checkbox" checked=${t} onChange=${s=>n(s.target.checked)} />
        Use shortcuts of a single key</label>
    </div>
  <//>`}var Hs=/\r(?!\n)|[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]|\udb40[\udc00-\udc7f]/g,Ks=/^ {0,3}(```|~~~)[^\n]*\n[\s\S]*?(?:^ {0,3}\1[^\n]*$|$(?![\s\S]))/gm;function W(e){let t=[],n=0;for(let o of e.matchAll(Hs)){let s=`U+${o[0].codePointAt(0).toString(16).toUpperCase().padStart(4,"0")}`;t.push(e.slice(n,o.index),i`<span class="chip" title="invisible character">${s}</span>`),n=o.index+o[0].length}return n?[...t,e.slice(n)]:e}function Js(e,t,n){let o=new Set([0,e.length]);for(let{start:r,end:a}of[...t,...n])o.add(r).add(a);let s=[...o].sort((r,a)=>r-a);return s.slice(1).map((r,a)=>{let c=s[a],u=f=>f.start<=c&&r<=f.end;return{start:c,end:r,marks:t.filter(u),isCode:n.some(u)}})}var Ut=({images:e=[]})=>e.map(({src:t,title:n})=>i`<img class="picture" src=${t} alt=${n} title=${n} />`);function ee({text:e,images:t=[],mono:n=!1,marks:o=[],at:s=null,onPick:r=null,label:a=null}){let c=n?[]:[...e.matchAll(Ks)].map(f=>({start:f.index,end:f.index+f[0].length})),u=Js(e,o,c).map(f=>{let d=W(e.slice(f.start,f.end)),m=f.isCode?i`<span class="code">${d}</span>`:d;if(f.marks.length===0)return m;let p=f.marks.filter(_=>_.no),l=f.marks.map(_=>_.note).filter(Boolean),h=p.map(_=>_.no),g=p.filter(_=>_.end===f.end).map(_=>_.no),y=h.length>0?[`${h.length>1?"quotes":"quote"} ${h.join(", ")}`]:[],x=[`n${Math.min(3,f.marks.length)}`,h.includes(s)&&"at",l.length>0&&"scrubbed"];return i`<mark class=${x.filter(Boolean).join(" ")}
      data-quotes=${h.join(" ")} data-ends=${g.join(" ")||null}
      title=${[...y,...l].join("; ")}
      onClick=${r&&h.length>0?()=>r(h[0]):null}>${m}${l.length>0&&i`<span class="hidden"> (${l.join("; ")})</span>`}</mark>`});return i`<div class=${`passage${n?" mono":""}`} dir="auto" tabindex="0" role="group" aria-label=${a}>${u}</div><${Ut} images=${t} />`}var Vs={pass:"✓",fail:"✗",inconclusive:"?",error:"!"};function fe({tone:e,children:t}){return i`<span class=${`badge ${e}-fill`}><span class=${e} aria-hidden="true">${Vs[e]??""}</span> ${t}</span>`}function ve({facts:e}){return e.length>0&&i`<p class="facts">${e.map((t,n)=>i`${n>0&&" · "}<bdi>${W(t)}</bdi>`)}</p>`}function zs({quote:e,isAt:t,isMarked:n,onPick:o}){let s=e.of?i`output <bdi>${W(e.of)}</bdi>`:"the output",r=e.match===null?i`<span class="fail">not found in ${s}</span>`:i`<span class="note">${e.of&&s}${e.match==="exact"?"":" found but for white space"}</span>`;return i`<li class=${t?"at":null} data-quote=${e.no}>
    ${n?i`<button type="button" class="number" onClick=${()=>o(e.no)} title="Show it in the output">
          <span class="hidden">quote </span>${e.no}</button>`:i`<span class="number" aria-hidden="true">${e.no}</span>`}
    <q dir="auto">${W(e.text)}</q> ${r}</li>`}function Gs({exchange:e,omitted:t,isOpen:n}){return e?i`<details class="exchange" open=${n}>
    <summary>Prompt and reply</summary>
    ${e.note&&i`<p class="note">${e.note}</p>`}
    ${e.messages.map(o=>i`<h5>${o.role}</h5><${ee} text=${o.text} label=${o.role} />`)}
    ${e.reply!==null&&i`<h5>reply</h5><${ee} text=${e.reply} mono label="reply" />`}
  </details>`:t&&i`<details class="exchange" open=${n}><summary>Prompt and reply</summary><p class="note">${t}</p></details>`}function it({row:e,exchanges:t=[],view:n}){let o=e.tone==="error"?i`<${fe} tone="error">${e.score}<//>`:i`<strong class=${e.tone}>${W(e.score)}</strong>`;return i`<div class="opinion">
    <p>${e.who&&i`<span class="who"><bdi>${W(e.who)}</bdi>:</span> `}${o}${e.value&&i`<span class="dim"> → ${e.value}</span>`}</p>
    <${ve} facts=${e.facts} />
    ${e.rationale?i`<p class="rationale" dir="auto">${W(e.rationale)}</p>`:i`<p class="note">no reason</p>`}
    ${e.quotes.length>0&&i`<ol class="quotes">${e.quotes.map(s=>i`<${zs} key=${s.no} quote=${s} isAt=${n.quote===s.no} isMarked=${n.marked.includes(s.no)} onPick=${n.pick} />`)}</ol>`}
    ${e.reply&&i`<details><summary>What the judge wrote</summary><${ee} text=${e.reply} mono label="reply" /></details>`}
    <${Gs} exchange=${t[e.exchange]} omitted=${n.omitted} isOpen=${n.isPromptOpen} />
  </div>`}function Ys({group:e,exchanges:t,question:n,view:o}){return i`<section class=${`criterion ${e.tone}-edge`}>
    <h4><bdi>${W(e.title)}</bdi> ${e.result&&i`<${fe} tone=${e.tone}>${e.result}<//>`}</h4>
    <${ve} facts=${e.facts} />
    ${n&&i`<p class="question" dir="auto">${W(n)}</p>`}
    ${e.rows.map(s=>i`<${it} row=${s} exchanges=${t} view=${o} />`)}
  </section>`}function ro({check:e}){return i`<li><${fe} tone=${e.tone==="inconclusive"?"error":e.tone}>${e.word}<//> <strong>${W(e.type)}</strong>
    <span dir="auto"> ${W(e.message)}</span>
    ${e.actual!==null&&i`<div class="dim">found <code>${W(e.actual)}</code></div>`}
    ${e.parts.length>0&&i`<ul class="checks">${e.parts.map(t=>i`<${ro} check=${t} />`)}</ul>`}
  </li>`}function ao({answer:e,view:t}){return i`
    <h3>output</h3>
    ${e.error!==null&&i`<p class="no-output"><${fe} tone="error">no output<//> <span dir="auto">${W(e.error)}</span></p>`}
    ${e.output?i`<${ee} text=${e.output} images=${e.images} mono=${e.mono} marks=${e.marks} at=${t.quote} onPick=${t.pick} label="output" />`:e.error===null&&i`<p class="note">${e.is_verdict_only?"The file holds verdicts only, and no outputs.":"The output is empty."}</p>`}
    ${e.steps&&i`<h3>steps, as the judge was shown them</h3>
      <${ee} text=${e.steps.text} marks=${e.steps.marks} at=${t.quote} onPick=${t.pick} label="steps" />`}`}function io({answer:e,questions:t,view:n}){let o=e.opinions;return i`
    ${e.checks.length>0&&i`<h3>assertions</h3><ul class="checks">${e.checks.map(s=>i`<${ro} check=${s} />`)}</ul>`}
    ${o.length>0&&i`<h3>judgments</h3>${o.map(s=>i`<${Ys} key=${s.title} group=${s} exchanges=${e.exchanges} question=${t[s.title]} view=${n} />`)}`}
    ${e.scores.length>0&&i`<h3>scores</h3><table class="scores"><tbody>${e.scores.map(s=>i`<tr>
      <th scope="row"><bdi>${W(s.name)}</bdi></th><td class="number">${s.value}</td><td dir="auto">${W(s.text)}</td></tr>`)}</tbody></table>`}
    ${e.checks.length+o.length+e.scores.length===0&&i`<p class="note">Nothing was checked or judged.</p>`}`}var Qs=400;function Xs({title:e,text:t,mono:n}){let o=i`<${ee} text=${t} mono=${n} label=${e||"content"} />`;return t.length<=Qs?i`${e&&i`<div class="part">${W(e)}</div>`}${o}`:i`<details><summary>${W(e)||"content"}, ${t.length.toLocaleString("en")} characters</summary>${o}</details>`}function lo({trace:e}){let t=Math.max(0,...e.map(o=>o.ms??0)),n=o=>s=>s&&(s.style.width=`${Math.max(1,100*o.ms/t)}%`);return i`<ol class="timeline">
    ${e.map(o=>i`<li class=${o.is_error?"is-error":null}>
      <div class="event"><span class="type">${o.is_error?"! ":""}${W(o.type)}</span>
        ${o.name&&i`<strong><bdi>${W(o.name)}</bdi></strong>`}
        ${o.took&&i`<span class="took">${o.took}</span>`}
      </div>
      ${o.ms!==null&&t>0&&i`<div class="track" aria-hidden="true"><div ref=${n(o)}></div></div>`}
      ${o.parts.map(s=>i`<${Xs} ...${s} />`)}
    </li>`)}
  </ol>`}var ye=class{diff(t,n,o={}){let s;typeof o=="function"?(s=o,o={}):"callback"in o&&(s=o.callback);let r=this.castInput(t,o),a=this.castInput(n,o),c=this.removeEmpty(this.tokenize(r,o)),u=this.removeEmpty(this.tokenize(a,o));return this.diffWithOptionsObj(c,u,o,s)}diffWithOptionsObj(t,n,o,s){var r;let a=_=>{if(_=this.postProcess(_,o),s){setTimeout(function(){s(_)},0);return}else return _},c=n.length,u=t.length,f=1,d=c+u;o.maxEditLength!=null&&(d=Math.min(d,o.maxEditLength));let m=(r=o.timeout)!==null&&r!==void 0?r:1/0,p=Date.now()+m,l=[{oldPos:-1,lastComponent:void 0}],h=this.extractCommon(l[0],n,t,0,o);if(l[0].oldPos+1>=u&&h+1>=c)return a(this.buildValues(l[0].lastComponent,n,t));let g=-1/0,y=1/0,x=()=>{for(let _=Math.max(g,-f);_<=Math.min(y,f);_+=2){let b,C=l[_-1],L=l[_+1];C&&(l[_-1]=void 0);let D=!1;if(L){let q=L.oldPos-_;D=L&&0<=q&&q<c}let R=C&&C.oldPos+1<u;if(!D&&!R){l[_]=void 0;continue}if(!R||D&&C.oldPos<L.oldPos?b=this.addToPath(L,!0,!1,0,o):b=this.addToPath(C,!1,!0,1,o),h=this.extractCommon(b,n,t,_,o),b.oldPos+1>=u&&h+1>=c)return a(this.buildValues(b.lastComponent,n,t))||!0;l[_]=b,b.oldPos+1>=u&&(y=Math.min(y,_-1)),h+1>=c&&(g=Math.max(g,_+1))}f++};if(s)(function _(){setTimeout(function(){if(f>d||Date.now()>p)return s(void 0);x()||_()},0)})();else for(;f<=d&&Date.now()<=p;){let _=x();if(_)return _}}addToPath(t,n,o,s,r){let a=t.lastComponent;return a&&!r.oneChangePerToken&&a.added===n&&a.removed===o?{oldPos:t.oldPos+s,lastComponent:{count:a.count+1,added:n,removed:o,previousComponent:a.previousComponent}}:{oldPos:t.oldPos+s,lastComponent:{count:1,added:n,removed:o,previousComponent:a}}}extractCommon(t,n,o,s,r){let a=n.length,c=o.length,u=t.oldPos,f=u-s,d=0;for(;f+1<a&&u+1<c&&this.equals(o[u+1],n[f+1],r);)f++,u++,d++,r.oneChangePerToken&&(t.lastComponent={count:1,previousComponent:t.lastComponent,added:!1,removed:!1});return d&&!r.oneChangePerToken&&(t.lastComponent={count:d,previousComponent:t.lastComponent,added:!1,removed:!1}),t.oldPos=u,f}equals(t,n,o){return o.comparator?o.comparator(t,n):t===n||!!o.ignoreCase&&t.toLowerCase()===n.toLowerCase()}removeEmpty(t){let n=[];for(let o=0;o<t.length;o++)t[o]&&n.push(t[o]);return n}castInput(t,n){return t}tokenize(t,n){return Array.from(t)}join(t){return t.join("")}postProcess(t,n){return t}get useLongestToken(){return!1}buildValues(t,n,o){let s=[],r;for(;t;)s.push(t),r=t.previousComponent,delete t.previousComponent,t=r;s.reverse();let a=s.length,c=0,u=0,f=0;for(;c<a;c++){let d=s[c];if(d.removed)d.value=this.join(o.slice(f,f+d.count)),f+=d.count;else{if(!d.added&&this.useLongestToken){let m=n.slice(u,u+d.count);m=m.map(function(p,l){let h=o[f+l];return h.length>p.length?h:p}),d.value=this.join(m)}else d.value=this.join(n.slice(u,u+d.count));u+=d.count,d.added||(f+=d.count)}}return s}};function Ht(e,t){let n;for(n=0;n<e.length&&n<t.length;n++)if(e[n]!=t[n])return e.slice(0,n);return e.slice(0,n)}function Kt(e,t){let n;if(!e||!t||e[e.length-1]!=t[t.length-1])return"";for(n=0;n<e.length&&n<t.length;n++)if(e[e.length-(n+1)]!=t[t.length-(n+1)])return e.slice(-n);return e.slice(-n)}function lt(e,t,n){if(e.slice(0,t.length)!=t)throw Error(`string ${JSON.stringify(e)} doesn't start with prefix ${JSON.stringify(t)}; this is a bug`);return n+e.slice(t.length)}function ct(e,t,n){if(!t)return e+n;if(e.slice(-t.length)!=t)throw Error(`string ${JSON.stringify(e)} doesn't end with suffix ${JSON.stringify(t)}; this is a bug`);return e.slice(0,-t.length)+n}function Ne(e,t){return lt(e,t,"")}function Je(e,t){return ct(e,t,"")}function Jt(e,t){return t.slice(0,Zs(e,t))}function Zs(e,t){let n=0;e.length>t.length&&(n=e.length-t.length);let o=t.length;e.length<t.length&&(o=e.length);let s=Array(o),r=0;s[0]=0;for(let a=1;a<o;a++){for(t[a]==t[r]?s[a]=s[r]:s[a]=r;r>0&&t[a]!=t[r];)r=s[r];t[a]==t[r]&&r++}r=0;for(let a=n;a<e.length;a++){for(;r>0&&e[a]!=t[r];)r=s[r];e[a]==t[r]&&r++}return r}function Vt(e,t){let n=[];for(let o of Array.from(t.segment(e))){let s=o.segment;n.length&&/\s/.test(n[n.length-1])&&/\s/.test(s)?n[n.length-1]+=s:n.push(s)}return n}function ut(e,t){if(t)return Re(e,t)[1];let n;for(n=e.length-1;n>=0&&e[n].match(/\s/);n--);return e.substring(n+1)}function Ee(e,t){if(t)return Re(e,t)[0];let n=e.match(/^\s*/);return n?n[0]:""}function Re(e,t){if(!t)return[Ee(e),ut(e)];if(t.resolvedOptions().granularity!="word")throw new Error('The segmenter passed must have a granularity of "word"');let n=Vt(e,t),o=n[0],s=n[n.length-1],r=/\s/.test(o)?o:"",a=/\s/.test(s)?s:"";return[r,a]}var dt="a-zA-Z0-9_\\u{AD}\\u{C0}-\\u{D6}\\u{D8}-\\u{F6}\\u{F8}-\\u{2C6}\\u{2C8}-\\u{2D7}\\u{2DE}-\\u{2FF}\\u{1E00}-\\u{1EFF}",er=new RegExp(`[${dt}]+|\\s+|[^${dt}]`,"ug"),zt=class extends ye{equals(t,n,o){return o.ignoreCase&&(t=t.toLowerCase(),n=n.toLowerCase()),t.trim()===n.trim()}tokenize(t,n={}){let o;if(n.intlSegmenter){let a=n.intlSegmenter;if(a.resolvedOptions().granularity!="word")throw new Error('The segmenter passed must have a granularity of "word"');o=Vt(t,a)}else o=t.match(er)||[];let s=[],r=null;return o.forEach(a=>{/\s/.test(a)?r==null?s.push(a):s.push(s.pop()+a):r!=null&&/\s/.test(r)?s[s.length-1]==r?s.push(s.pop()+a):s.push(r+a):s.push(a),r=a}),s}join(t){return t.map((n,o)=>o==0?n:n.replace(/^\s+/,"")).join("")}postProcess(t,n){if(!t||n.oneChangePerToken)return t;let o=null,s=null,r=null;return t.forEach(a=>{a.added?s=a:a.removed?r=a:((s||r)&&co(o,r,s,a,n.intlSegmenter),o=a,s=null,r=null)}),(s||r)&&co(o,r,s,null,n.intlSegmenter),t}},uo=new zt;function Yt(e,t,n){return n?.ignoreWhitespace!=null&&!n.ignoreWhitespace?ft(e,t,n):uo.diff(e,t,n)}function co(e,t,n,o,s){if(t&&n){let[r,a]=Re(t.value,s),[c,u]=Re(n.value,s);if(e){let f=Ht(r,c);e.value=ct(e.value,c,f),t.value=Ne(t.value,f),n.value=Ne(n.value,f)}if(o){let f=Kt(a,u);o.value=lt(o.value,u,f),t.value=Je(t.value,f),n.value=Je(n.value,f)}}else if(n){if(e){let r=Ee(n.value,s);n.value=n.value.substring(r.length)}if(o){let r=Ee(o.value,s);o.value=o.value.substring(r.length)}}else if(e&&o){let r=Ee(o.value,s),[a,c]=Re(t.value,s),u=Ht(r,a);t.value=Ne(t.value,u);let f=Kt(Ne(r,u),c);t.value=Je(t.value,f),o.value=lt(o.value,r,f),e.value=ct(e.value,r,r.slice(0,r.length-f.length))}else if(o){let r=Ee(o.value,s),a=ut(t.value,s),c=Jt(a,r);t.value=Je(t.value,c)}else if(e){let r=ut(e.value,s),a=Ee(t.value,s),c=Jt(r,a);t.value=Ne(t.value,c)}}var Gt=class extends ye{tokenize(t){let n=new RegExp(`(\\r?\\n)|[${dt}]+|[^\\S\\n\\r]+|[^${dt}]`,"ug");return t.match(n)||[]}},fo=new Gt;function ft(e,t,n){return fo.diff(e,t,n)}var Qt=class extends ye{constructor(){super(...arguments),this.tokenize=tr}equals(t,n,o){return o.ignoreWhitespace?((!o.newlineIsToken||!t.includes(`
`))&&(t=t.trim()),(!o.newlineIsToken||!n.includes(`
`))&&(n=n.trim())):o.ignoreNewlineAtEof&&!o.newlineIsToken&&(t.endsWith(`
`)&&(t=t.slice(0,-1)),n.endsWith(`
`)&&(n=n.slice(0,-1))),super.equals(t,n,o)}},po=new Qt;function Ve(e,t,n){return po.diff(e,t,n)}function tr(e,t){t.stripTrailingCr&&(e=e.replace(/\r\n/g,`
`));let n=[],o=e.split(/(\n|\r\n)/);o[o.length-1]||o.pop();for(let s=0;s<o.length;s++){let r=o[s];s%2&&!t.newlineIsToken?n[n.length-1]+=r:n.push(r)}return n}var mo=300,nr=.2,Xt=typeof Intl.Segmenter=="function"?new Intl.Segmenter(void 0,{granularity:"word"}):void 0;function or(e,t){return!e||!t?[{value:e||t,removed:!t,added:!e}]:Yt(e,t,{intlSegmenter:Xt,timeout:mo})??Ve(e,t,{timeout:mo})??null}function sr(e,t,n){return e.filter(r=>!r.added&&!r.removed).reduce((r,a)=>r+a.value.trim().length,0)/Math.max(1,Math.min(t.trim().length,n.trim().length))}function rr(e){return Xt?[...Xt.segment(e)].filter(t=>t.isWordLike).length:e.split(/\s+/).filter(Boolean).length}function ar(e,t){if(e===t)return{summary:e?"Both texts are the same.":"Both texts are empty.",parts:[]};let n=or(e,t);if(n&&!n.some(s=>s.added||s.removed))return{summary:"Only white space differs.",parts:n};if(!n||e&&t&&sr(n,e,t)<nr)return{summary:"The texts have little in common.",parts:[{value:e,removed:!0},{value:t,added:!0}],isWhole:!0};let o=s=>n.reduce((r,a)=>r+(a[s]?rr(a.value):0),0);return{summary:`Words removed: ${o("removed")}. Words added: ${o("added")}.`,parts:n}}function ir({part:e,isWhole:t}){if(!e.added&&!e.removed)return e.value;let[n,o]=e.added?["ins","added: "]:["del","removed: "];return i`<${n} class=${t?"whole":""}><span class="hidden">${o}</span>${e.value}<span class="hidden">, end. </span></${n}>`}function Te({a:e,b:t}){let n=J(()=>ar(e,t),[e,t]);return i`
    <div class="word-diff">
      <p class="note" role="status">${n.summary}</p>
      ${n.parts.length>0&&i`
        <div class="diff-text" dir="auto" tabindex="-1">
          ${n.parts.map(o=>i`<${ir} part=${o} isWhole=${n.isWhole} />`)}
        </div>`}
    </div>`}var lr=new Set(["sides","comparison","ranking","items","changes"]),pt=e=>lr.has(e);function Zt({output:e,place:t,view:n}){return i`
    <section class="side" data-answer=${t}>
      <h4><bdi>${W(e.name)}</bdi></h4>
      <${ve} facts=${e.facts} />
      ${e.error&&i`<p class="error">${W(e.error)}</p>`}
      ${e.output&&i`<${ee} text=${e.output} images=${e.images} mono=${e.mono} marks=${e.marks} at=${n.quote} onPick=${n.pick} label=${e.name} />`}
      ${!e.output&&!e.error&&i`<p class="note">The output is empty.</p>`}
    </section>`}function $o({label:e,outputs:t,value:n,onPick:o}){return i`<label>${e} <select value=${n} onChange=${s=>o(Number(s.target.value))}>
    ${t.map((s,r)=>i`<option value=${r} selected=${r===n}>${s.name}</option>`)}
  </select></label>`}function cr(e){let t=e.findIndex(n=>n.column!==e[0].column);return[0,t<0?Math.min(1,e.length-1):t]}function ur({outputs:e,viewOf:t,areKeysOn:n}){let[[o,s],r]=w(cr(e)),[a,c]=w(!1),u=M(null),f=()=>r(([p,l])=>[l,p]);if(de({s:f,d:()=>c(p=>!p),n:()=>ho(u.current,1),N:()=>ho(u.current,-1)},n),e.length===0)return i`<p class="note">The output is not known here.</p>`;if(e.length===1)return i`<${Zt} output=${e[0]} place=${0} view=${t(0)} />`;let[d,m]=[e[o],e[s]];return i`
    <div class="pair" ref=${u}>
      <div class="pair-tools">
        ${e.length>2&&i`
          <${$o} label="Left" outputs=${e} value=${o} onPick=${p=>r([p,s])} />
          <${$o} label="Right" outputs=${e} value=${s} onPick=${p=>r([o,p])} />`}
        <button type="button" aria-pressed=${a} aria-keyshortcuts="d" onClick=${()=>c(!a)}>Word diff</button>
        <button type="button" aria-keyshortcuts="s" onClick=${f}>Swap sides</button>
      </div>
      ${a?i`<h4>From <bdi>${d.name}</bdi> to <bdi>${m.name}</bdi></h4><${Te} a=${d.output} b=${m.output} />`:i`<div class="pair-columns"><${Zt} output=${d} place=${o} view=${t(o)} key=${o} /><${Zt} output=${m} place=${s} view=${t(s)} key=${`right-${s}`} /></div>`}
    </div>`}function ho(e,t){let n=[...e?.querySelectorAll("ins, del")??[]];if(n.length===0)return;let o=n.findIndex(r=>r.classList.contains("current")),s=n[(o+t+n.length)%n.length];n[o]?.classList.remove("current"),s.classList.add("current"),s.tabIndex=-1,s.focus(),s.scrollIntoView({block:"nearest"})}function dr({point:e}){return i`<li><span dir="auto">${e.text}</span>
    ${e.quote&&i` <q dir="auto">${e.quote}</q>`}
    ${e.after&&i`<${Te} a=${e.before} b=${e.after} />`}</li>`}function fr(e){let t=new Map,n=(o,s)=>t.set(o,[...t.get(o)??[],s]);for(let[o,s]of e.entries()){for(let r of s.opinions)for(let a of r.rows){let c=a.tone==="error"?a.tone:r.tone;n(r.title,{row:{...a,who:s.name,tone:c},exchanges:s.exchanges,place:o})}for(let r of s.checks){let a=r.actual===null?[]:[r.actual];n(r.type,{row:{who:s.name,score:r.word,tone:r.tone,facts:a,rationale:r.message,quotes:[]},place:o})}}return[...t].map(([o,s])=>({title:o,result:"",rows:s}))}function go({index:e,row:t,body:n,areKeysOn:o=!0}){let[s,r]=w({}),[a,c]=w(!1);de({p:()=>c(m=>!m)},o);let u=t.opinions?t.opinions.map(m=>({...m,rows:m.rows.map(p=>({row:p,exchanges:t.exchanges}))})):fr(t.answers),f=m=>t.opinions?void 0:m,d=m=>({quote:s.place===f(m)?s.no:null,marked:(t.opinions?t.answers:[t.answers[m]]).flatMap(p=>p.marks.map(l=>l.no)),pick:p=>{r({place:f(m),no:p});let l=t.opinions?"":`[data-answer="${m}"] `;n.current.querySelector(`${l}mark[data-quotes~="${p}"]`)?.scrollIntoView({block:"nearest"})},isPromptOpen:a,omitted:e.omitted.replies});return i`
    <div class="pair-body">
      ${t.texts.map(m=>i`
        <details open=${m.title==="input"}><summary>${m.title}</summary><${ee} text=${m.text} images=${m.images} mono=${m.mono} label=${m.title} /></details>`)}
      <h3>${t.answers.length>1?"Outputs":"Output"}</h3>
      <${ur} outputs=${t.answers} viewOf=${d} areKeysOn=${o} key=${t.id} />
      ${u.length>0&&i`<h3>Judgments</h3>`}
      ${u.map(m=>i`
        <section class="group">
          <h4><bdi>${W(m.title)}</bdi></h4>
          ${m.result&&i`<p class="result">${W(m.result)}</p>`}
          <div class="pair-columns">${m.rows.map(p=>i`<${it} row=${p.row} exchanges=${p.exchanges} view=${d(p.place)} />`)}</div>
        </section>`)}
      ${(t.points??[]).map(m=>i`
        <h3>${W(m.title)}</h3>
        <ul>${m.points.map(p=>i`<${dr} point=${p} />`)}</ul>`)}
    </div>`}function pr(e,t){let[n,o]=w(null);return N(()=>{let s=!0;return On(e,t).then(r=>s&&o({place:t,row:r}),r=>s&&o({place:t,error:r})),()=>{s=!1}},[e,t]),n?.place===t?n:null}function _o({index:e,row:t,at:n,onChoose:o,isBeside:s}){if(t.answers.length===1)return null;let a=f=>[e.columns[f.column],f.round].filter(Boolean).join(", "),c=[...t.answers.keys()];return i`<div class="tabs"><div role="tablist" aria-label="Answers" onKeyDown=${f=>{let d={ArrowLeft:-1,ArrowRight:1}[f.key];if(!d)return;f.preventDefault(),f.stopPropagation();let m=(n+d+c.length)%c.length;o(m),f.currentTarget.querySelectorAll("[role=tab]")[m].focus()}}>
    ${t.answers.map((f,d)=>{let{sign:m,tone:p,label:l}=e.states[f.state],h=!s&&d===n;return i`<button type="button" role="tab" id=${`tab-${d}`} aria-controls="answer" aria-selected=${h}
        tabindex=${d===n?0:-1} onClick=${()=>o(d)}>
        <span class=${p} aria-hidden="true">${m}</span> <bdi>${a(f)}</bdi>
        <span class="hidden">, ${l}</span>${f.value&&i`<span class="dim"> ${f.value}</span>`}</button>`})}</div>
    <button type="button" aria-pressed=${s} onClick=${()=>o(n,!s)}>Side by side</button></div>`}function bo({label:e,row:t,index:n,value:o,onChoose:s}){return i`<label class="choice"><span>${e}</span><select value=${o} onChange=${r=>s(Number(r.target.value))}>
    ${t.answers.map((r,a)=>i`<option value=${a} selected=${a===o}>${n.columns[r.column]}${r.round&&`, ${r.round}`}</option>`)}
  </select></label>`}function mr({index:e,row:t,questions:n,a:o,b:s,onChoose:r}){let[a,c]=[t.answers[o],t.answers[s]],u=[...new Set([...a.opinions,...c.opinions].map(l=>l.title))],f=(l,h)=>l.opinions.find(g=>g.title===h),d=(l,h)=>{let g=f(l,h);return g?.result?i`<${fe} tone=${g.tone}>${g.result}<//>`:"–"},m=(l,h)=>f(l,h)?.rows.map(g=>i`<p dir="auto">${W(g.rationale)}</p>`),p=l=>e.states[l.state];return i`<div class="beside">
    <div class="choices">
      <${bo} label="from" row=${t} index=${e} value=${o} onChoose=${l=>r(l,s)} />
      <${bo} label="to" row=${t} index=${e} value=${s} onChoose=${l=>r(o,l)} />
    </div>
    <h3>output</h3>
    <${Te} a=${a.output} b=${c.output} />
    <h3>judgments</h3>
    <div class="wide"><table class="pair"><thead><tr><th scope="col">criterion</th>${[a,c].map(l=>i`<th scope="col"><bdi>${e.columns[l.column]}</bdi> ${l.round}</th>`)}</tr></thead>
      <tbody><tr><th scope="row">verdict</th>${[a,c].map(l=>i`<td><${fe} tone=${p(l).tone}>${p(l).label} ${l.value??""}<//></td>`)}</tr>
      ${u.map(l=>i`<tr><th scope="row" title=${n[l]??null}><bdi>${W(l)}</bdi></th>
        ${[a,c].map(h=>i`<td>${d(h,l)}${m(h,l)}</td>`)}</tr>`)}</tbody></table></div>
  </div>`}var $r=["reference","context"];function hr({index:e,row:t,state:n,change:o,body:s,areKeysOn:r}){let a={...e.questions,...t.questions},c=n.answer??n.variant,u=S=>[e.columns[t.answers[S].column],t.answers[S].round].filter(Boolean).join(", ").replace(new RegExp("\\p{Cs}","gu"),"�"),f=[...t.answers.keys()],d=S=>{let P=f.findIndex(E=>u(E)===S);return P>=0?P:f.findLastIndex(E=>e.columns[t.answers[E].column]===S)},m=Math.max(0,d(c)),p=d(n.with),l=t.answers[m],[h,g]=w(null),[y,x]=w(!1),_=ue("(max-width: 60rem)"),[b,C]=w("texts");N(()=>g(null),[t,m]);let L=J(()=>l?[...l.marks,...l.steps?.marks??[]].map(S=>S.no):[],[l]),D=(S,P,E=()=>{})=>{C(S),requestAnimationFrame(()=>requestAnimationFrame(()=>{let X=s.current?.querySelector(P);X?.scrollIntoView({block:"nearest"}),X&&E(X)}))},R=S=>(g(S),D("texts",`mark[data-quotes~="${S}"]`)),q=S=>(g(S),D("judgments",`li[data-quote="${S}"]`)),$=(S,P=!1)=>o({answer:u(S),with:P?u((S+1)%f.length):""}),v=S=>()=>f.length>1&&p<0&&$((m+S+f.length)%f.length);de({ArrowLeft:v(-1),ArrowRight:v(1),e:()=>L.length>0&&R(L[(L.indexOf(h)+1)%L.length]),r:()=>D("texts",'[data-text="reference"]',S=>S.querySelector(".passage").focus()),p:()=>{x(!y),D("judgments",".exchange")}},r);let k=e.omitted.replies??"",O={quote:h,marked:L,isPromptOpen:y,omitted:k},j=S=>t.texts.filter(P=>$r.includes(P.title)===S).map(P=>i`<section data-text=${P.title} class="given"><h3>${P.title}</h3>
      <${ee} text=${P.text} images=${P.images} mono=${P.mono} label=${P.title} /></section>`);return p>=0&&p!==m?i`<${_o} index=${e} row=${t} at=${m} onChoose=${$} isBeside />
      <div id="answer"><${mr} index=${e} row=${t} questions=${a} a=${m} b=${p}
        onChoose=${(S,P)=>o({answer:u(S),with:u(S===P?(S+1)%f.length:P)})} />${j(!1)}${j(!0)}</div>`:i`<${_o} index=${e} row=${t} at=${m} onChoose=${$} isBeside=${!1} />
    ${l&&i`<div class="verdict"><${fe} tone=${e.states[l.state].tone}>
      ${e.states[l.state].label} ${l.value??""}<//> <${ve} facts=${[l.round,...l.facts].filter(Boolean)} /></div>`}
    ${_&&i`<div class="parts" role="group" aria-label="Show">${[["texts","Output and texts"],["judgments","Judgments"]].map(([S,P])=>i`<button type="button" aria-pressed=${b===S} onClick=${()=>C(S)}>${P}</button>`)}</div>`}
    <div class="columns" id="answer" role=${f.length>1?"tabpanel":null} aria-labelledby=${f.length>1?`tab-${m}`:null}>
      ${(!_||b==="texts")&&i`<div>${j(!1)}${l&&i`<${ao} answer=${l} view=${{...O,pick:q}} />`}
        ${j(!0)}${l?.trace.length>0&&i`<h3>trace</h3><${lo} trace=${l.trace} />`}</div>`}
      ${l&&(!_||b==="judgments")&&i`<div><${io} answer=${l} questions=${a} view=${{...O,pick:R}} /></div>`}
    </div>`}function vo({index:e,place:t,rows:n,state:o,change:s,onClose:r,onMove:a,areKeysOn:c,onHelp:u}){let f=pr(e,t),d=M(null),[m,p]=w(""),l=n.indexOf(t),h=e.ids[t];N(()=>{p(""),d.current&&(d.current.scrollTop=0)},[t]);let g=Ft({...o,case:h}),y=async()=>{try{await navigator.clipboard.writeText(g),p("Link copied.")}catch{p(`The browser does not allow copying; the link is ${g}`)}};de({"[":()=>a(-1),"]":()=>a(1),j:()=>a(1),k:()=>a(-1),c:()=>{y()},"?":u},c);let x=pt(e.kind)?go:hr;return i`<${Bt} label=${`Case ${h}`} className="drawer" onClose=${r}>
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
        ${f?.row&&i`<${ve} facts=${f.row.facts??[]} />
          <${x} key=${t} index=${e} row=${f.row} state=${o} change=${s} body=${d} areKeysOn=${c} />`}
      </div>
    </div>
  <//>`}var yo=8,gr=[["← →","in a case: previous, next answer"],["e","in a case: next piece of evidence"],["r","in a case: reference"]],_r=[["d","in a case: the words that differ"],["n N","in a case: next, previous of these words"],["s","in a case: swap the sides"]];function br({filters:e,kind:t}){return[["?","this list"],["/","search; Enter goes to the first case found"],["j k","next, previous row"],["← →","column"],["Enter","open the case"],[`1 … ${1+Math.min(yo,e.length)}`,"filters: all, then as listed"],["Esc","close"],["[ ]","in a case: previous, next case"],...pt(t)?_r:gr,["p","in a case: prompt and reply of the judge"],["c","in a case: copy a link to it"]]}function wo({index:e}){let[t,n]=Jn(),o=zn(e,t.q),s=Gn(e,t,o.hits),{rows:r}=s,a=J(()=>new Map(e.ids.map((S,P)=>[S,P])),[e]),c=t.case===void 0?void 0:a.get(t.case),[{active:u},f]=w({active:-1}),[d,m]=w(-1),p=M({row:-1,column:-1}),l=S=>{p.current.row=S,f({active:S})},[h,g]=w(!1),[y,x]=oo(),_=M(null),b=J(()=>{let S=new Set(e.cells.flatMap(P=>[...new Set(P.state)]));return e.states.filter((P,E)=>S.has(E))},[e]),C=M(-1),L=S=>{if(r.length===0)return;let P=Math.min(r.length-1,Math.max(0,S));C.current=P,l(P)},D=(S,P)=>n({case:e.ids[S],answer:P??e.columns[p.current.column]??"",with:""},{push:!0}),R=()=>{history.state?.pushed?history.back():n({case:"",answer:"",with:""})},q=S=>{let P=r.indexOf(a.get(Ie().case)),E=r[P<0?0:P+S];E!==void 0&&n({case:e.ids[E],with:""})},$=M(c);N(()=>{$.current!==void 0&&c===void 0&&L(r.indexOf($.current)),$.current=c},[c]),N(()=>l(Math.min(p.current.row,r.length-1)),[r]);let v=S=>()=>n({state:S},{push:!0}),k=S=>()=>{let P=e.columns.length,E=p.current.column;return p.current.column=E<0?S>0?0:P-1:(E+S+P)%P,m(p.current.column),!0},O=c===void 0&&!h;de({"?":()=>g(!0),"/":()=>_.current.focus(),j:()=>L(p.current.row+1),k:()=>L(p.current.row-1),1:v(""),...Object.fromEntries(e.filters.slice(0,yo).map((S,P)=>[P+2,v(S.key)]))},O&&y);let j=()=>document.activeElement?.closest?.("tr[data-row]")!==null;return de({ArrowDown:()=>j()&&(L(p.current.row+1),!0),ArrowUp:()=>j()&&(L(p.current.row-1),!0),ArrowLeft:()=>j()&&k(-1)(),ArrowRight:()=>j()&&k(1)(),Enter:()=>document.activeElement?.matches?.("tr[data-row] a")&&(D(r[p.current.row]),!0)},O),i`
    <p class="legend note">${b.map(({label:S,sign:P,tone:E})=>i`<span><span class=${E} aria-hidden="true">${P}</span> ${S}</span>`)}</p>
    <${Xn} index=${e} state=${t} change=${n} selection=${s} search=${o}
      searchBox=${_} onFound=${()=>L(0)} onHelp=${()=>g(!0)} />
    ${t.case!==void 0&&c===void 0&&i`<p class="fail" role="alert">There is no case “${t.case}” on this page.</p>`}
    <${to} index=${e} rows=${r} state=${t} change=${n} active=${u} setActive=${l}
      column=${d} openRow=${D} focusing=${C} />
    ${c!==void 0&&i`<${vo} index=${e} place=${c} rows=${r} state=${t} change=${n}
      onClose=${R} onMove=${q} areKeysOn=${y&&!h} onHelp=${()=>g(!0)} />`}
    ${h&&i`<${so} rows=${br(e)} isOn=${y} setOn=${x} onClose=${()=>g(!1)} />`}
  `}function vr(e){if(e.scrollWidth>e.clientWidth)e.tabIndex=0,e.setAttribute("role","group"),e.setAttribute("aria-label",yr(e));else for(let t of["tabindex","role","aria-label"])e.removeAttribute(t)}function yr(e){for(let t=e;t&&t.id!=="main";t=t.parentElement)for(let n=t.previousElementSibling;n;n=n.previousElementSibling)if(/^H[1-6]$/.test(n.tagName))return n.textContent;return e.querySelector("th, figcaption, svg")?.textContent||document.title}function ko(){let e=new ResizeObserver(t=>t.forEach(n=>vr(n.target)));for(let t of document.querySelectorAll(".wide"))e.observe(t)}var te=null,Pe=null,ze=0;function wr(){return te||(te=document.createElement("div"),te.id="tip",te.className="tip",te.setAttribute("role","tooltip"),te.popover="manual"),te}function kr(e){let t=e.getBoundingClientRect(),{width:n,height:o}=te.getBoundingClientRect(),s=Math.min(Math.max(6,t.left),Math.max(6,innerWidth-n-6)),r=t.bottom+6,a=r+o>innerHeight&&t.top>o+6?t.top-o-6:r;te.style.left=`${s}px`,te.style.top=`${a}px`}function en(e){if(clearTimeout(ze),Pe===e)return;De(),Pe=e;let t=wr();t.textContent=e.dataset.tip,(e.closest("dialog[open], main")??document.body).append(t),t.showPopover(),kr(e),e.ariaLabel!==e.dataset.tip&&e.setAttribute("aria-describedby",t.id)}function De(){clearTimeout(ze),Pe&&(Pe.removeAttribute("aria-describedby"),Pe=null,te.matches(":popover-open")&&te.hidePopover())}function mt(e){let t=e instanceof Element?e.closest("[data-tip], .term[title], td[title], th[title]"):null;return t?.title&&(t.dataset.tip=t.title,t.removeAttribute("title")),t}function xo(e=document){for(let t of e.querySelectorAll(".term[title]"))mt(t),t.tabIndex=0;for(let t of e.querySelectorAll("[data-tip] > * > title"))t.remove()}document.addEventListener("pointerover",e=>{if(e.pointerType==="touch")return;let t=mt(e.target);t?en(t):te?.contains(e.target)?clearTimeout(ze):Pe&&(clearTimeout(ze),ze=setTimeout(De,200))});document.addEventListener("focusin",e=>{let t=mt(e.target);t&&en(t)});document.addEventListener("focusout",De);document.addEventListener("click",e=>{let t=mt(e.target);t?en(t):De()});document.addEventListener("keydown",e=>{e.key==="Escape"&&Pe&&(De(),e.stopImmediatePropagation(),e.preventDefault())},!0);document.addEventListener("scroll",De,{capture:!0,passive:!0});function Co(e){for(let t of e.querySelectorAll(".text-change")){let[n,o]=[...t.querySelectorAll("pre")].map(s=>s.textContent);t.replaceChildren(),ne(i`<${Te} a=${n} b=${o} />`,t)}}var Oe=class extends Error{constructor(t,n,o=null){super(t),this.status=n,this.reply=o}};function tn(){return So()!==void 0}function So(){return document.querySelector('meta[name="judgekit-token"]')?.content}async function oe(e,t){if(!tn())throw new Oe("This page can change nothing: it is for reading only.",0);let n;try{n=await fetch(e,{method:"POST",headers:{"content-type":"application/json","x-judgekit-token":So()},body:JSON.stringify(t)})}catch{throw new Oe("judgekit does not answer. Is it still running?",0)}let o=await n.text(),r=n.headers.get("content-type")?.startsWith("application/json")?JSON.parse(o):null;if(!n.ok)throw new Oe(r?.error??o,n.status,r);return r}var $t=20;function Eo({path:e,text:t,problems:n,isReadOnly:o,target:s,onInput:r}){let a=M(null),c=M(null),[u,f]=w({top:0,height:600}),d=()=>a.current&&f({top:a.current.scrollTop,height:a.current.clientHeight});Y(()=>{a.current.value!==t&&(a.current.value=t)},[t]),N(()=>{let g=new ResizeObserver(d);return g.observe(a.current),()=>g.disconnect()},[]),Y(()=>{c.current.style.transform=`translateY(${-(u.top%$t)}px)`},[u]),N(()=>{if(!s)return;let g=t.split(`
`),y=g.slice(0,s.line-1).reduce((x,_)=>x+_.length+1,0);a.current.focus(),a.current.setSelectionRange(y,y+(g[s.line-1]??"").length),a.current.scrollTop=Math.max(0,(s.line-4)*$t),a.current.scrollLeft=0,d()},[s]);let m=new Map;for(let g of n){let y=m.get(g.line);m.set(g.line,{severity:y?.severity==="error"?"error":g.severity,words:y?`${y.words}
${g.message}`:g.message})}let p=t.split(`
`).length,l=Math.floor(u.top/$t),h=Math.min(p-l,Math.ceil(u.height/$t)+1);return i`
    <div class="ed-text">
      <div class="ed-gutter" aria-hidden="true">
        <div ref=${c}>
          ${Array.from({length:Math.max(0,h)},(g,y)=>{let x=l+y+1,_=m.get(x),b=_&&(_.severity==="error"?"✗":"!");return i`<div class=${_?`ed-${_.severity}`:""} title=${_?.words}>${b} ${x}</div>`})}
        </div>
      </div>
      <textarea ref=${a} wrap="off" spellcheck=${!1} autocomplete="off" aria-label=${`Text of ${e}`}
        readOnly=${o} onScroll=${d} onInput=${g=>r(g.target.value)} />
    </div>`}var xr=400,To=90,nn=500,Cr={assertions:[],scorers:[],variants:[],suites:[],needs:[],examples:[],tags:[],stratum:"",metadata:{},evaluation:{},judge:{},gate:{},settings:{},compare:{},prices:{},columns:{},panel:{}};function Sr(e,t){let[n,o]=w(e),s=M({draft:e,value:e,timer:0});s.current.commit=t,N(()=>{s.current.draft===s.current.value&&o(s.current.draft=e),s.current.value=e},[e]);let r=()=>{clearTimeout(s.current.timer),s.current.draft!==s.current.value&&(s.current.value=s.current.draft,s.current.commit(s.current.draft))};return N(()=>r,[]),[n,c=>{o(s.current.draft=c),clearTimeout(s.current.timer),s.current.timer=setTimeout(r,xr)},r]}function Oo(e,t){let[n,o]=w(e);return N(()=>o(e),[e]),[n,async r=>{o(r),await t(r)||o(e)}]}function pe({label:e,value:t,onCommit:n,lines:o=1,hint:s="",problem:r="",type:a="text"}){let c=be(),[u,f,d]=Sr(t,n),m=M(null),p=Math.min(16,Math.max(o,u.split(`
`).length)),l=r||s?`${c}-about`:null,h={id:c,value:u,"aria-describedby":l,"aria-invalid":r?"true":null,onInput:g=>f(g.target.value),onBlur:d};return i`
    <div class="ed-field">
      <label for=${c}>${e}</label>
      ${o===1?i`<input type=${a} ref=${m} ...${h} />`:i`<textarea rows=${p} ...${h} />`}
      ${l&&i`<p id=${l} class=${r?"fail":"note"}>${r||s}</p>`}
    </div>`}function Lo(e){return typeof e=="number"?!Number.isInteger(e)||Number.isSafeInteger(e):e===null||typeof e!="object"||Object.values(e).every(Lo)}function Er({label:e,value:t,onCommit:n,hint:o}){let[s,r]=w("");if(!Lo(t))return i`<p class="note"><strong><bdi>${e}</bdi></strong> holds a number with more digits than this form keeps: change it in “Text”.</p>`;let a=JSON.stringify(t,null,2),c=u=>{let f;try{f=JSON.parse(u)}catch(d){r(`Not in the file yet, for it is not JSON: ${d.message}`);return}r(""),n(f)};return i`<${pe} label=${`${e} (JSON)`} value=${a} lines=${2} problem=${s} hint=${o} onCommit=${c} />`}function Le({label:e,value:t,lines:n,onCommit:o,onRemove:s,hint:r}){return t!=null&&typeof t!="string"?i`<${Er} label=${e} value=${t} onCommit=${o} hint=${r} />`:i`<${pe} label=${e} value=${t??""} lines=${n} onCommit=${c=>c===""&&s?s():o(c)} hint=${r} />`}function ht({label:e,value:t,onCommit:n,onRemove:o,hint:s}){let[r,a]=w(""),c=u=>{let f=u.trim(),d=f!==""&&Number.isFinite(Number(f));a(d||f===""&&o?"":"Not in the file yet: a number is needed."),d?n(Number(f)):f===""&&o&&o()};return i`<${pe} label=${e} value=${t==null?"":String(t)}
    problem=${r} hint=${s} onCommit=${c} />`}function on({data:e,known:t,where:n,change:o,noun:s}){let[r,a]=w(""),c=be(),u=Object.keys(e).filter(m=>!t.includes(m)),f=r.trim(),d=async()=>{f&&!(f in e)&&await o("set",[...n,f],Cr[f]??"")&&a("")};return i`
    ${u.map(m=>i`
      <div class="ed-other" key=${m}>
        <${Le} label=${m} value=${e[m]??void 0} lines=${1}
          onCommit=${p=>o("set",[...n,m],p)} />
        <button onClick=${()=>o("remove",[...n,m])} aria-label=${`Remove ${m}`} title="Remove">×</button>
      </div>`)}
    <div class="ed-add">
      <label for=${c}>Further field of the ${s}</label>
      <input id=${c} value=${r} onInput=${m=>a(m.target.value)}
        onKeyDown=${m=>m.key==="Enter"&&d()} />
      <button onClick=${d} disabled=${!f||f in e}>Add field</button>
    </div>`}function Mo({noun:e,n:t,place:n,where:o,change:s,onPlace:r,blank:a,copyName:c,isReadOnly:u}){let f=async(m,p,l,h)=>{await s(m,[...o,p],l)&&r(h)},d=async()=>{if(!await s("copy",[...o,n]))return;let[m,p]=c(n);await s("set",[...o,n+1,m],p),r(n+1)};return u?null:i`
    <fieldset class="ed-tools" aria-label=${`Change the list of ${e==="criterion"?"criteria":"cases"}`}>
      <button onClick=${()=>f("insert",t?n:-1,a(),t?n+1:0)}>Add</button>
      <button disabled=${!t} onClick=${d}>Duplicate</button>
      <button disabled=${n<1} onClick=${()=>f("move",n,-1,n-1)} aria-label="Move up">↑</button>
      <button disabled=${n>=t-1} onClick=${()=>f("move",n,1,n+1)} aria-label="Move down">↓</button>
      <button disabled=${!t} onClick=${()=>f("remove",n,null,Math.max(0,Math.min(n,t-2)))}>Delete</button>
    </fieldset>`}function Ao({label:e,items:t,place:n,onPlace:o}){let s=M(null);return i`
    <ul class="ed-items" ref=${s} aria-label=${e} onKeyDown=${a=>{let c={ArrowDown:1,ArrowUp:-1}[a.key];if(!c)return;a.preventDefault();let u=[...s.current.querySelectorAll("button")],f=u[u.indexOf(document.activeElement)+c];f?.focus(),f?.click()}}>
      ${t.map(a=>i`
        <li key=${a.place}>
          <button aria-current=${a.place===n?"true":null} onClick=${()=>o(a.place)}>
            <strong><bdi>${a.name}</bdi></strong>
            ${a.tags?.map(c=>i`<span class="ed-tag"><bdi>${c}</bdi></span>`)}
            <span class="note" dir="auto">${a.words}</span>
          </button>
        </li>`)}
    </ul>`}function jo(e){let t=typeof e=="string"?e:JSON.stringify(e)??"";return t.length>To?`${t.slice(0,To)}…`:t}function gt(e,t){for(let n=2;;n++)if(!t.includes(`${e}-${n}`))return`${e}-${n}`}function Po(e){return Array.isArray(e)?e.filter(t=>typeof t=="string"):[]}function Io({file:e,caseId:t,onCase:n,change:o,isReadOnly:s}){let[r,a]=w(""),[c,u]=w(null),f=be(),d=e.cases_at,m=(d.length?e.data[d[0]]:e.data).map($=>$&&typeof $=="object"&&!Array.isArray($)?$:{}),p=($,v)=>Object.keys(e.aliases).find(k=>e.aliases[k]===v&&k in $&&!(v in $))??v,l=m.map($=>String($[p($,"id")]??"")),h=t===null?0:Math.max(0,l.indexOf(t)),g=Math.min(c&&l[c.place]===(c.id??l[c.place])?c.place:h,Math.max(0,m.length-1)),y=$=>{u({place:$}),n(l[$]??null)},x=$=>$[p($,"input")],_=r.trim().toLowerCase(),b=m.map(($,v)=>({place:v,name:l[v]||"(no id)",words:jo(x($)),tags:Po($.tags)})).filter($=>!_||`${$.name} ${$.words} ${$.tags.join(" ")}`.toLowerCase().includes(_)),C=m[g],L=[...d,g],D=$=>v=>o("set",[...L,$],v),R=$=>$ in C?()=>o("remove",[...L,$]):null,q=["tags",...["id","input","reference","context"].map($=>C?p(C,$):$)];return i`
    <div class="ed-list">
      <div class="ed-field">
        <label for=${f}>Find a case</label>
        <input id=${f} type="search" value=${r} onInput=${$=>a($.target.value)} />
      </div>
      <p class="note" role="status">${b.length===m.length?"":`${b.length} of `}${Q(m.length,"case")}${b.length>nn?`, the first ${nn} are listed`:""}</p>
      <${Mo} noun="case" n=${m.length} place=${g} where=${d} change=${o} isReadOnly=${s} onPlace=${$=>u({place:$})}
        blank=${()=>({id:gt("case",l),input:""})} copyName=${$=>["id",gt(l[$],l)]} />
      <${Ao} label="Cases" items=${b.slice(0,nn)} place=${g} onPlace=${y} />
    </div>
    ${C&&i`
      <fieldset class="ed-fields" disabled=${s} aria-label=${`Case ${l[g]}`} key=${`${g} of ${m.length}`}>
        <p class="note">Line ${e.lines[g]}</p>
        <${pe} label="id" value=${l[g]} hint="Names results and stored judgments."
          onCommit=${async $=>{await o("set",[...L,p(C,"id")],$)&&(u({place:g}),n($))}} />
        <${Le} label=${p(C,"input")} value=${x(C)} lines=${5} onCommit=${D(p(C,"input"))} />
        ${["reference","context"].map($=>i`
          <${Le} key=${$} label=${p(C,$)} value=${C[p(C,$)]} lines=${3}
            onCommit=${D(p(C,$))} onRemove=${R(p(C,$))} />`)}
        <${pe} label="tags" value=${Po(C.tags).join(", ")} hint="Separated by commas."
          onCommit=${$=>D("tags")($.split(",").map(v=>v.trim()).filter(Boolean))} />
        <${on} data=${C} known=${q} where=${L} change=${o} noun="case" />
      </fieldset>`}`}var Tr=["name","question","scoring_guide","scale","weight","required","pass_value"];function No({data:e,change:t,isReadOnly:n}){let[o,s]=w(0),r=e.criteria.map(l=>l&&typeof l=="object"?l:{}),a=Math.min(o,Math.max(0,r.length-1)),c=r.map(l=>String(l.name??"")),u=r[a],f=["criteria",a],d=l=>h=>t("set",[...f,l],h),m=l=>l in u?()=>t("remove",[...f,l]):null,p=l=>h=>t("set",[l],h);return i`
    <div class="ed-list">
      <fieldset disabled=${n} aria-label="Rubric">
      <${pe} label="Name of the rubric" value=${String(e.name??"")} onCommit=${p("name")} />
      <${ht} label="pass_threshold" value=${e.pass_threshold} hint="The least overall value that passes, 0 to 1."
        onCommit=${p("pass_threshold")} onRemove=${"pass_threshold"in e?()=>t("remove",["pass_threshold"]):null} />
      </fieldset>
      <${Mo} noun="criterion" n=${r.length} place=${a} where=${["criteria"]} change=${t} isReadOnly=${n} onPlace=${s}
        blank=${()=>({name:gt("criterion",c),question:""})} copyName=${l=>["name",gt(c[l],c)]} />
      <${Ao} label="Criteria" items=${r.map((l,h)=>({place:h,name:c[h]||"(no name)",words:jo(l.question??"")}))}
        place=${a} onPlace=${s} />
    </div>
    ${u&&i`
      <fieldset class="ed-fields" disabled=${n} aria-label=${`Criterion ${c[a]}`} key=${`${a} of ${r.length}`}>
        <${pe} label="name" value=${c[a]} onCommit=${d("name")} />
        <${Le} label="question" value=${u.question} lines=${3} onCommit=${d("question")} />
        <${Or} scale=${u.scale} where=${[...f,"scale"]} change=${t} />
        <${Le} label="scoring_guide" value=${u.scoring_guide} lines=${3} onCommit=${d("scoring_guide")} onRemove=${m("scoring_guide")} />
        <div class="ed-row">
          <${ht} label="weight" value=${u.weight} hint="Its share in the overall value; 1 if missing." onCommit=${d("weight")} onRemove=${m("weight")} />
          <${ht} label="pass_value" value=${u.pass_value} hint="The least value that passes, 0 to 1." onCommit=${d("pass_value")} onRemove=${m("pass_value")} />
          <${Pr} label="required" value=${u.required===!0} onCommit=${d("required")} />
        </div>
        <${on} data=${u} known=${Tr} where=${f} change=${t} noun="criterion" />
      </fieldset>`}`}function Pr({label:e,value:t,onCommit:n}){let[o,s]=Oo(t,n);return i`<label class="ed-check"><input type="checkbox" checked=${o}
    onChange=${r=>s(r.target.checked)} /> ${e}</label>`}function Or({scale:e,where:t,change:n}){return Array.isArray(e)&&e.every(s=>s&&typeof s=="object"&&"value"in s)?i`
    <fieldset class="ed-levels">
      <legend>scale</legend>
      ${e.map((s,r)=>i`
        <div class="ed-level" key=${`${r} of ${e.length}`}>
          <${ht} label=${`Value ${r+1}`} value=${s.value} onCommit=${a=>n("set",[...t,r,"value"],a)} />
          <${pe} label="Anchor" value=${String(s.description??"")} lines=${2} onCommit=${a=>n("set",[...t,r,"description"],a)} />
          <button aria-label=${`Remove level ${s.value}`} title="Remove" disabled=${e.length<3} onClick=${()=>n("remove",[...t,r])}>×</button>
        </div>`)}
      <button onClick=${()=>n("insert",[...t,e.length-1],{value:Lr(e),description:""})}>Add level</button>
    </fieldset>`:i`<${Le} label="scale" value=${e} lines=${1} onCommit=${s=>n("set",t,s)}
      hint='The name of a scale, such as likert5; or JSON: a list of levels, each with a value and a description.' />`}function Lr(e){let t=e.map(o=>Number(o.value)).filter(Number.isFinite),n=t.at(-1)??0;return t.length>1&&t[0]>n?n-1:n+1}var Mr=["name","dataset","rubric","profile","cases"];function Ro({data:e,profiles:t,change:n,isReadOnly:o}){let s=u=>f=>n("set",[u],f),r=u=>u in e?()=>n("remove",[u]):null,[a,c]=Oo(e.profile??"",u=>u?n("set",["profile"],u):n("remove",["profile"]));return i`
    <fieldset class="ed-fields" disabled=${o} aria-label="Suite">
      <${pe} label="name" value=${String(e.name??"")} onCommit=${s("name")} />
      ${["dataset","rubric"].map(u=>i`
        <${Le} key=${u} label=${u} value=${e[u]} lines=${1} onCommit=${s(u)} onRemove=${r(u)} />`)}
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
      <${on} data=${e} known=${Mr} where=${[]} change=${n} noun="suite" />
    </fieldset>`}var Ar=600,_t="\0typed",Do=new Set(["suite","rubric","cases","template","partial","outputs"]);function Wo({path:e,file:t,listing:n,caseId:o,onCase:s,isReadOnly:r}){let a=n.files.filter(v=>v.kind==="suite").map(v=>v.path),[c,u]=w(a.includes(e)?e:a[0]),[f,d]=w(null),[m,p]=w(""),[l,h]=w(""),[g,y]=w(null),[x,_]=w(""),b=M(0),C=f===_t,L={case_id:o,variant:C?null:f,output:C?m:null,model:l.trim()||null},D={path:e,text:t.text,suite:c,settings:L},R=JSON.stringify(D),q=async v=>{try{let k=await oe("/api/edit/preview",D);if(v!==b.current)return;k.error||y({...k,key:R}),_(k.error??"")}catch(k){if(v!==b.current)return;_(k.message)}};if(N(()=>{let v=++b.current;if(!c||!Do.has(t.kind))return;let k=setTimeout(()=>q(v),g||x?Ar:0);return()=>clearTimeout(k)},[R,t.kind]),!Do.has(t.kind))return null;if(!c)return i`<aside class="ed-preview" aria-label="Preview"><h2>Preview</h2>
      <p class="note">Prompts are shown with a suite, which names the judge: there is none in this folder. <code>judgekit init</code> makes one.</p></aside>`;let $=g?.key===R;return i`
    <aside class="ed-preview" aria-label="Preview" aria-busy=${!$&&!x}>
      <h2>What the judge reads</h2>
      <div class="ed-choices">
        ${a.length>1&&i`<${sn} label="Suite" value=${c} options=${a} onChoose=${u} />`}
        ${g&&i`
          <${sn} label="Case" value=${g.case_id} options=${g.cases} onChoose=${s} />
          <${sn} label="Output" value=${f??g.variant??_t} onChoose=${d}
            options=${[...g.variants,_t]} names=${{[_t]:"typed here"}} />
          <${jr} judges=${g.judges} model=${l} onModel=${h} />`}
      </div>
      ${C&&i`<${Ir} text=${m} onText=${p} />`}
      ${x&&i`<p class="ed-narrow">No preview: <bdi>${x}</bdi></p>`}
      ${g&&!x&&i`
        ${g.notes.map(v=>i`<p class="note">${v}</p>`)}
        <${Rr} body=${D} preview=${g} isCurrent=${$&&!x} isReadOnly=${r} />
        ${!C&&g.variant&&i`<details><summary>Output of ${g.variant}</summary><pre dir="auto">${g.output}</pre></details>`}
        ${g.requests.map((v,k)=>i`<${Nr} key=${k} request=${v} isOpen=${k===0} />`)}`}
    </aside>`}function sn({label:e,value:t,options:n,names:o={},onChoose:s}){let r=be();return i`<div class="ed-field">
    <label for=${r}>${e}</label>
    <select id=${r} value=${t} onChange=${a=>s(a.target.value)}>
      ${n.map(a=>i`<option key=${a} value=${a} selected=${a===t}>${o[a]??a}</option>`)}
    </select></div>`}function jr({judges:e,model:t,onModel:n}){let o=be();return i`<div class="ed-field">
    <label for=${o}>Model</label>
    <input id=${o} value=${t} placeholder=${e.join(", ")||"none"} onChange=${s=>n(s.target.value)} />
  </div>`}function Ir({text:e,onText:t}){let n=be();return i`<div class="ed-field">
    <label for=${n}>Output to judge</label>
    <textarea id=${n} rows="4" value=${e} onInput=${o=>t(o.target.value)} />
  </div>`}function Nr({request:e,isOpen:t}){let n=e.repeat?`, repeat ${e.repeat+1}`:"";return i`
    <details open=${t}>
      <summary><strong>${e.criterion??"all criteria"}</strong>${n}: ${e.tokens}, ${e.price}</summary>
      <p class="note">${e.judge}; tokens counted by ${e.token_source}</p>
      ${e.messages.map(o=>i`
        <h3>${o.role}</h3>
        <pre class="ed-prompt" dir="auto">${o.content}</pre>`)}
    </details>`}function Rr({body:e,preview:t,isCurrent:n,isReadOnly:o}){let[s,r]=w("ready"),[a,c]=w(null),[u,f]=w("");N(()=>{r("ready"),c(null),f("")},[t.calls_key]);let d=async()=>{r("running"),f("");try{let l=await oe("/api/edit/preview",{...e,calls_key:t.calls_key});l.error?f(l.error):c(l)}catch(l){f(l.message)}r("ready")},m=M(null);N(()=>{s==="confirm"&&m.current.focus()},[s]);let p=t.n_calls===0||t.price.includes("not recorded");return o?i`<p><strong>${t.price}</strong></p>`:i`
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
        <h3>${t.criterion}: ${t.raw} <span class="note">${[`value ${t.value}`,...t.facts].join(", ")}</span></h3>
        <p class="note">${t.judge}</p>
        <p dir="auto">${t.rationale}</p>
        ${t.evidence.map(n=>i`<blockquote dir="auto">${n.quote}${!n.match&&i` <span class="fail">! not in the output</span>`}</blockquote>`)}
      </section>`)}`}var qo=3,Wr=40,Fo=300;function Bo({dialog:e,path:t,file:n,onSave:o,onSettle:s,onClose:r}){let a=M(null);N(()=>{a.current.showModal()},[]);let c=n.problems.filter(d=>d.severity==="error"&&d.path===t).length,u=e.kind==="conflict",f=u?e.disk.text:n.saved;return i`
    <dialog class="ed-dialog" ref=${a} onClose=${r} aria-labelledby="ed-dialog-title">
      <h2 id="ed-dialog-title">${u?"Changed on disk":`Changes to ${t}`}</h2>
      ${e.message&&i`<p class="error" role="alert">${e.message}</p>`}
      ${u?i`<p>Below: what is on disk now (−), and what you have here (+).</p>`:c>0&&i`<p class="fail">✗ With ${Q(c,"error")} it cannot be used until ${c===1?"it is":"they are"} corrected.</p>`}
      <${qr} before=${f} after=${n.text} />
      <div class="ed-buttons">
        ${u?i`
              <button onClick=${()=>s(e.disk,!0)}>Keep mine, and look at the changes again</button>
              <button onClick=${()=>s(e.disk,!1)}>Discard mine, take the file on disk</button>`:i`<button class="ed-save" autofocus onClick=${o}>${c?`Save with ${Q(c,"error")}`:"Save"} <kbd>Ctrl+S</kbd></button>`}
        <button onClick=${()=>a.current.close()}>Cancel</button>
      </div>
    </dialog>`}function qr({before:e,after:t}){let n=Ve(e,t,{timeout:Fo});if(!n)return i`<p class="note">The texts have too little in common to be compared line by line.</p>`;let o=[];return n.forEach((s,r)=>{let a=s.value.replace(/\n$/,"").split(`
`);if(!s.added&&!s.removed){o.push(...Fr(a,r===0,r===n.length-1));return}let c=s.removed?n[r+1]:n[r-1],f=c&&(s.removed?c.added:c.removed)&&c.count===s.count&&s.count<=Wr?c.value.replace(/\n$/,"").split(`
`):[];a.forEach((d,m)=>o.push({sign:s.removed?"−":"+",line:d,other:f[m]}))}),i`
    <div class="ed-diff" tabindex="0" role="region" aria-label="Changed lines">
      ${o.map(s=>{if(s.folded)return i`<div class="ed-fold">${s.folded} unchanged lines</div>`;if(!s.sign)return i`<div><span>  </span>${s.line}</div>`;let r=s.sign==="+"?"ins":"del";return i`<${r} class="ed-line"><span class="hidden">${s.sign==="+"?"added: ":"removed: "}</span><span aria-hidden="true">${s.sign} </span><${Br} row=${s} /></${r}>`})}
    </div>`}function Fr(e,t,n){let o=t?0:qo,s=n?0:qo;return e.length<=o+s+1?e.map(r=>({line:r})):[...e.slice(0,o).map(r=>({line:r})),{folded:e.length-o-s},...s?e.slice(-s).map(r=>({line:r})):[]]}function Br({row:e}){let t=e.sign==="+",n=e.other===void 0?null:ft(t?e.other:e.line,t?e.line:e.other,{timeout:Fo});return n?n.filter(o=>t?!o.removed:!o.added).map(o=>o.added||o.removed?i`<mark>${o.value}</mark>`:o.value):e.line}var Ur=300,Hr="/edit",Ho="(max-width: 44rem)",Kr=/^\/edit\/(.+)$/;function Ko(){let e=Kr.exec(location.pathname),t=document.getElementById("main");if(!e||!tn()||!t)return;let n=document.createElement("div"),o=e[1].split("/").map(decodeURIComponent).join("/");for(;t.querySelector("h1").nextSibling;)t.querySelector("h1").nextSibling.remove();t.append(n),document.querySelector(".skip").textContent="Skip to the editor",ne(i`<${Jr} path=${o} />`,n)}function bt(){return new URLSearchParams(location.hash.slice(1))}function Uo(e){let t=bt();for(let[n,o]of Object.entries(e))o===null?t.delete(n):t.set(n,o);history.replaceState(null,"",`#${t}`)}function Jr({path:e}){let[t,n]=w(null),[o,s]=w(""),r=()=>oe("/api/edit/files",{}).then(n,u=>s(u.message));N(()=>{r()},[]);let a=ue(Ho);if(o)return i`<p class="error" role="alert">${o}</p>`;let c=i`<${zr} listing=${t} path=${e} />`;return i`
    <div class="editor">
      <nav class="ed-files" aria-label="Files" aria-busy=${!t}>
        ${a?i`<details><summary>Files of ${t?.folder}</summary>${c}</details>`:c}
      </nav>
      <div class="ed-work"><${Yr} path=${e} listing=${t} onSaved=${r} /></div>
    </div>`}function Vr({files:e}){let t=e.find(n=>n.command);return t&&i`<p class="note">To run it: <code>${t.command}</code></p>`}function zr({listing:e,path:t}){return e?i`
    <p class="ed-folder"><a href=${Hr}>${e.folder}</a></p>
    <ul>
      ${e.files.map(n=>i`
        <li key=${n.path}>
          <a href=${Jo(n.path)} aria-current=${n.path===t?"page":null}><bdi>${n.path}</bdi></a>
          <span class="note">${n.kind} <${Gr} file=${n} /></span>
        </li>`)}
    </ul>
    <${Vr} files=${e.files} />`:i`<p class="note">Reading the folder …</p>`}function Gr({file:e}){let t=[];return e.n_errors&&t.push(i`<span class="fail">✗ ${Q(e.n_errors,"error")}</span>`),e.n_warnings&&t.push(i`<span class="inconclusive">! ${Q(e.n_warnings,"warning")}</span>`),t}function Jo(e){return`/edit/${e.split("/").map(encodeURIComponent).join("/")}`}function Yr({path:e,listing:t,onSaved:n}){let[o,s]=w(null),r=M(null),[a,c]=w(""),[u,f]=w(bt().get("view")),[d,m]=w(bt().get("case")),[p,l]=w(null),[h,g]=w(""),[y,x]=w(null),_=M({timer:0,number:0}),b=M(Promise.resolve()),C=M(null),L=M(!1),D=ue(Ho),R=A=>s(r.current={...r.current,...A}),q=async()=>{try{let A=await oe("/api/edit/open",{path:e});R({...A,saved:A.text});let B=Number(bt().get("line"));B&&P(B)}catch(A){c(A.message)}};N(()=>{q()},[e]);let $=!!(o&&o.text!==o.saved);N(()=>{if(document.title=`${$?"* ":""}Edit ${e}`,!$)return;let A=B=>B.preventDefault();return addEventListener("beforeunload",A),()=>removeEventListener("beforeunload",A)},[$]);let v=async()=>{let A=++_.current.number,{text:B}=r.current;try{let ie=await oe("/api/edit/check",{path:e,text:B});A===_.current.number&&B===r.current.text&&R(ie),c("")}catch(ie){c(ie.message)}},k=A=>{g(""),R({text:A}),clearTimeout(_.current.timer),_.current.timer=setTimeout(v,Ur)},O=(A,B,ie=null)=>{let we=b.current.then(async()=>{let z,T;do z=r.current.text,T=await oe("/api/edit/change",{path:e,text:z,kind:A,where:B,value:ie});while(z!==r.current.text);_.current.number++,R(T),c(""),g("")});return b.current=we.catch(z=>c(z.message)),we.then(()=>!0,()=>!1)},j=A=>{f(A),Uo({view:A})},S=A=>{m(A),Uo({case:A})},P=A=>{j("text"),x({line:A})},E=!!o&&!o.is_recorded&&!D,X=async()=>{E&&(C.current=document.activeElement,C.current?.blur(),clearTimeout(_.current.timer),await b.current,await v(),r.current.text===r.current.saved?g("There are no changes to save."):l({kind:"save"}))},me=()=>{l(null),C.current?.focus()},re=async()=>{if(L.current)return;L.current=!0;let{text:A,version:B,problems:ie}=r.current,we=ie.some(z=>z.severity==="error");try{let z=await oe("/api/edit/save",{path:e,text:A,version:B,allow_errors:we});R({saved:A,version:z.version}),me(),g("Saved."),n()}catch(z){z instanceof Oe&&z.status===409?l({kind:"conflict",disk:z.reply,message:z.message}):l({kind:"save",message:z.message})}finally{L.current=!1}},qe=(A,B)=>{R({saved:A.text,version:A.version}),me(),B||R({text:A.text}),v()};if(N(()=>{let A=B=>{!(B.ctrlKey||B.metaKey)||B.key.toLowerCase()!=="s"||(B.preventDefault(),!B.repeat&&(p?.kind==="save"?re():p||X()))};return addEventListener("keydown",A),()=>removeEventListener("keydown",A)}),!o)return a?i`<p class="error" role="alert">${a}</p>`:i`<p class="note" aria-busy="true">Opening …</p>`;let ae=o.is_recorded||D,$e=Qr(o),he=$e.some(A=>A.name===u)?u:$e[0].name,Ye=o.problems.filter(A=>A.path===e);return i`
    <div class="ed-bar">
      <div role="group" aria-label="View" class="ed-views">
        ${$e.map(A=>i`<button aria-pressed=${String(A.name===he)} onClick=${()=>j(A.name)}>${A.label}</button>`)}
      </div>
      <span class="ed-state" role="status">${h||($?"Not saved":"")}</span>
      ${E&&i`<button class="ed-save" disabled=${!$} onClick=${X}>Save … <kbd>Ctrl+S</kbd></button>`}
    </div>
    ${D&&i`<p class="ed-narrow">This window is too narrow for editing: files can be read here, and edited in a wider one.</p>`}
    ${o.is_recorded&&i`<p class="ed-narrow">This file holds recorded ${o.kind==="recorded replies"?"replies":"results"}: it can be read, but not edited.</p>`}
    ${a&&i`<p class="error" role="alert">${a}</p>`}
    <${Zr} file=${o} path=${e} onJump=${P} />
    <div class="ed-panes">
      <div class="ed-pane">
        ${he==="text"?i`<${Eo} path=${e} text=${o.text} problems=${Ye} isReadOnly=${ae} target=${y} onInput=${k} />`:i`<div class="ed-form">
              ${he==="cases"&&i`<${Io} file=${o} caseId=${d} onCase=${S} change=${O} isReadOnly=${ae} />`}
              ${he==="rubric"&&i`<${No} data=${o.data} change=${O} isReadOnly=${ae} />`}
              ${he==="suite"&&i`<${Ro} data=${o.data} profiles=${o.profiles} change=${O} isReadOnly=${ae} />`}
            </div>`}
      </div>
      ${t&&i`<${Wo} path=${e} file=${o} listing=${t} caseId=${d} onCase=${S} isReadOnly=${D} />`}
    </div>
    ${p&&i`<${Bo} dialog=${p} path=${e} file=${o}
      onSave=${re} onSettle=${qe} onClose=${me} />`}
  `}function Qr(e){let t=[];return e.form==="rubric"&&Array.isArray(e.data?.criteria)&&t.push({name:"rubric",label:"Criteria"}),e.form==="suite"&&t.push({name:"suite",label:"Suite"}),e.cases_at&&t.push({name:"cases",label:"Cases"}),[...t,{name:"text",label:"Text"}]}var Xr={error:"✗",warning:"!"};function Zr({file:e,path:t,onJump:n}){let o=M(null);Y(()=>{o.current.textContent!==e.summary&&(o.current.textContent=e.summary)},[e.summary]);let s=e.problems.some(r=>r.severity==="error")?"fail":e.problems.length?"inconclusive":"pass";return i`
    <section class=${`ed-problems ${s}`} aria-label="Problems">
      <p><span>${e.kind}: </span><strong role="status" ref=${o}></strong></p>
      ${e.problems.length>0&&i`
        <ul>
          ${e.problems.map(r=>i`
            <li>
              <span class=${r.severity==="error"?"fail":"inconclusive"}>${Xr[r.severity]} ${r.severity}</span>${" "}
              <${ea} problem=${r} path=${t} onJump=${n} />${" "}
              <bdi>${r.message}</bdi>${r.remedy&&i` <span class="note">(${r.remedy})</span>`}
              ${r.rule&&i` <code>${r.rule}</code>`}
            </li>`)}
        </ul>`}
    </section>`}function ea({problem:e,path:t,onJump:n}){let o=e.line===null?"":`line ${e.line}`;if(e.path===t)return o&&i`<button class="ed-link" onClick=${()=>n(e.line)}>${o}</button>`;if(!e.path)return null;let s=e.line===null?"":`#view=text&line=${e.line}`;return i`<a href=${Jo(e.path)+s}><bdi>${e.path}</bdi> ${o}</a>`}var vt=2;function ta([e,t]){return`/diff?a=${encodeURIComponent(e)}&b=${encodeURIComponent(t)}`}function na({boxes:e}){let[t,n]=w([]);for(let s of e)s.checked=t.includes(s.value),s.onchange=()=>{let r=t.filter(a=>a!==s.value);n(s.checked?[...r.slice(1-vt),s.value]:r)};let o=vt-t.length;return i`
    <div class="chosen">
      ${o===0?i`<a class="button" href=${ta(t)}>Side by side</a>`:i`<button type="button" disabled>Side by side</button>`}
      ${t.length>0&&i`
        <button type="button" onClick=${()=>n([])}>Clear</button>`}
      <span role="status">${o===vt?"Tick two rows to see them side by side.":o?`${t[0]}; tick one more row.`:`${t[0]} and ${t[1]}`}</span>
    </div>
  `}function Vo(){let e=[...document.querySelectorAll("[data-choice]")];if(e.length<vt)return;let t=e.map(o=>{let s=document.createElement("input");s.type="checkbox",s.value=o.dataset.choice,s.setAttribute("aria-label",`Side by side: ${o.dataset.choice}`);let r=document.createElement("label");return r.className="tick",r.append(s),o.prepend(r),s}),n=document.createElement("div");e[0].closest(".wide").before(n),ne(i`<${na} boxes=${t} />`,n)}function oa({address:e,lines:t}){let[n,o]=w(null),[s,r]=w("");if(N(()=>{let c=new EventSource(e);return c.addEventListener("progress",u=>{let f=JSON.parse(u.data);o(f),r(""),f.lines.forEach((d,m)=>{t[m]&&(t[m].textContent=d)})}),c.addEventListener("end",()=>{c.close(),location.reload()}),c.addEventListener("problem",u=>{c.close(),r(JSON.parse(u.data).text)}),c.onerror=()=>r("judgekit does not answer. Is it still running?"),()=>c.close()},[e]),!n)return i`<p class="note">${s||"Loading the progress …"}</p>`;let a=n.total?Math.min(1,n.done/n.total):null;return i`
    <div class="live">
      <progress aria-label="Progress of the run" max=${n.total??void 0}
        value=${a===null?void 0:Math.min(n.done,n.total)}></progress>
      <span class="live-text">${n.lines[0]}</span>
    </div>
    <p class="hidden" role="status">${sa(n,a)}</p>
    ${n.hint&&i`<p class="note">${n.hint}</p>`}
    ${s&&i`<p class="note" role="alert">${s}</p>`}
  `}function sa(e,t){return t===null?"":`${Math.floor(t*10)*10} % of ${e.total}`}function zo(){let e=document.getElementById("live");if(!e)return;let t=document.querySelectorAll("main > dl dd");ne(i`<${oa} address=${e.dataset.events} lines=${t} />`,e)}function Me(e){return{annotator:e,answers:{},flags:{},seconds:{},saved:null,changed:null}}function ce(e,t,n){return e.answers[t.id]?.[n]??null}function Ae(e){return e!=null&&(e.cannot||e.choice!=null)}function Qo(e,t){let[n,o]=[e,t].map(s=>[s?.choice??null,s?.cannot??!1,(s?.comment??"").trim()]);return n.every((s,r)=>s===o[r])}var je=e=>e.name??"";function se(e,t,n,o){let s=ce(t,n,je(e.criteria[o]));return Ae(s)?e.reason&&!s.cannot&&!s.comment.trim():!0}function yt(e,t,n){return n.criteria.every(o=>!se(e,t,n,o))}var Go=(e,t)=>(t?.at??"")>(e?.at??"")?t:e;function We(e,t){let n={...e,answers:{...e.answers},flags:{...e.flags},seconds:{...e.seconds}};for(let[s,r]of Object.entries(t.answers)){let a={...n.answers[s]};for(let[c,u]of Object.entries(r))a[c]=Go(a[c],u);n.answers[s]=a}for(let[s,r]of Object.entries(t.flags))n.flags[s]=Go(n.flags[s],r);for(let[s,r]of Object.entries(t.seconds))n.seconds[s]=Math.max(n.seconds[s]??0,r);let o=s=>[e[s],t[s]].filter(Boolean).sort().at(-1)??null;return{...n,saved:o("saved"),changed:o("changed")}}function ra(e){let t=2166136261;for(let n of e)t=Math.imul(t^n.codePointAt(0),16777619);return t=Math.imul(t^t>>>15,2246822507),(t^t>>>13)>>>0}var Yo=10;function rn(e,t){if(e.adjudicates)return e.items;let n=s=>ra(`${e.packet} ${t} ${s.id}`),o=e.items.filter(s=>!s.again);o.sort((s,r)=>s.part-r.part||n(s)-n(r)||(s.id<r.id?-1:1));for(let s of e.items.filter(r=>r.again)){let r=o.findIndex(a=>a.id===s.again);o.splice(Math.min(o.length,r+Yo+n(s)%Yo),0,s)}return o}function Xo(e,t,n){return n.flatMap((o,s)=>{let r=o.criteria.map(u=>je(e.criteria[u])),a=r.filter(u=>Ae(ce(t,o,u))||ce(t,o,u)?.comment.trim());return(a.length||!t.flags[o.id]?.on?a:r.slice(0,1)).map(u=>an(e,t,o,u,s+1))})}function an(e,t,n,o,s){let r=ce(t,n,o),a={packet:e.packet,position:s,labelled_at:r?.at??new Date().toISOString()};t.seconds[n.id]&&(a.seconds=Math.round(t.seconds[n.id])),r?.cannot&&(a.cannot_judge=!0),t.flags[n.id]?.on&&(a.flagged=!0),e.adjudicates&&(a.adjudicates=!0);let c={case_id:n.id};return o!==""&&(c.criterion=o),c.annotator=t.annotator,r&&!r.cannot&&r.choice!=null&&(c[e.pairs?"winner":"raw"]=r.choice),r?.comment.trim()&&(c.rationale=r.comment.trim()),c.metadata=a,c}function ln(e,t){let n=new Map(e.items.map(r=>[r.id,r])),o=new Set(t.map(r=>r.annotator));if(o.size>1)throw new Error("This file has the answers of several people. Open a file of one person.");let s=Me(String([...o][0]??""));for(let r of t){let a=r.metadata??{},c=n.get(r.case_id);if(a.packet!==e.packet||!c)throw new Error("This file belongs to another labelling page, so that its answers do not fit here.");let f={choice:r.raw??r.winner??null,cannot:a.cannot_judge===!0,comment:String(r.rationale??""),at:String(a.labelled_at??"")};s.answers[c.id]={...s.answers[c.id],[r.criterion??""]:f},a.flagged&&(s.flags[c.id]={on:!0,at:f.at}),a.seconds&&(s.seconds[c.id]=a.seconds),f.at>(s.changed??"")&&(s.changed=f.at)}return s}function Zo(e,t){let n=t.split(`
`).map(s=>s.trim()).filter(Boolean),o;try{o=n.map(s=>JSON.parse(s))}catch{throw new Error("This is not a file that this page has saved: it cannot be read.")}if(!o.length||o.some(s=>s===null||typeof s!="object"))throw new Error("This file has no answers.");return ln(e,o)}var es=e=>e.adjudicates?"judgekit-adjudicate":"judgekit-label",cn=(e,t)=>`${es(e)} ${e.packet} ${t}`,ts=e=>`${es(e)}-name ${e.packet}`;function wt(e,t){try{let n=localStorage.getItem(cn(e,t));return n?We(Me(t),JSON.parse(n)):null}catch{return null}}function ns(e){try{return localStorage.getItem(ts(e))??""}catch{return""}}function Ge(e,t){let n=We(t,wt(e,t.annotator)??Me(t.annotator));try{return localStorage.setItem(cn(e,t.annotator),JSON.stringify(n)),localStorage.setItem(ts(e),t.annotator),!0}catch{return!1}}function os(e,t,n){return n===cn(e,t)}function ss(e,t){let n=t.map(r=>`${JSON.stringify(r)}
`).join(""),o=URL.createObjectURL(new Blob([n],{type:"application/jsonl"})),s=document.createElement("a");s.href=o,s.download=e,document.body.append(s),s.click(),s.remove(),setTimeout(()=>URL.revokeObjectURL(o),1e3)}function rs(e){return`labels-${e.normalize("NFKD").replace(/[^\p{L}\p{N}]+/gu,"-").replace(/^-+|-+$/g,"").toLowerCase()||"annotator"}.jsonl`}var aa="judgekit-label/1",ia=12e4,la=5,ca=5;function ls(){let e=document.getElementById("label-data"),t=document.getElementById("label");if(!e||!t)return;let n=JSON.parse(e.textContent);if(n.format!==aa)return;let o=[...t.querySelectorAll("#label-task > p")].map(r=>r.textContent),s=t.dataset.answers??null;t.replaceChildren(),ne(i`<${ma} task=${n} intro=${o} store=${s} />`,t)}var ua=e=>[...e].sort((t,n)=>t-n)[Math.floor(e.length/2)],da=e=>new Date(e).toLocaleTimeString([],{hour:"2-digit",minute:"2-digit"}),fa=e=>e.closest?.("input:not([type=checkbox]), textarea, select")!=null,pa=e=>e.closest?.("button, a, summary, label, input")!=null;function ma({task:e,intro:t,store:n}){let[o,s]=w("start");Y(()=>{document.body.classList.toggle("answering",o!=="start")},[o]);let[r,a]=w(null),[c,u]=w(""),[f,d]=w(!1),[m,p]=w(0),l=M({unsent:new Map,last:Promise.resolve()}),h=M(null);h.current=r;function g($,v){let k={...$,changed:new Date().toISOString()};h.current=k,a(k),d(!Ge(e,k)),n&&v&&y(k,v)}function y($,v){l.current.unsent.set(`${$.annotator} ${v.item.id} ${v.name}`,{known:$,...v}),x()}function x(){let $=l.current;p($.unsent.size),$.last=$.last.then(_)}async function _(){let{unsent:$}=l.current,v="";for(let[k,O]of[...$]){let{known:j,item:S,name:P,position:E}=O;try{await oe(n,{annotator:j.annotator,labels:[an(e,j,S,P,E)]}),$.get(k)===O&&$.delete(k),h.current={...h.current,saved:new Date().toISOString()},a(h.current)}catch(X){v=X.message.replace(/[^.?!\n](?=\n|$)/g,"$&.")}}p($.size),u(v&&`${Q($.size,"answer is","answers are")} not stored: ${v} They are kept in this browser, and sent again with the next answer; “Save file” writes them for judgekit label --import or --merge.`)}async function b($,v=wt(e,$)??Me($)){let k=v;if(n)try{let{labels:O}=await oe(n,{annotator:$,labels:[]}),j={...ln(e,O),annotator:$};k=We(k,j);for(let[S,P]of rn(e,$).entries())for(let E of P.criteria){let X=je(e.criteria[E]),[me,re]=[k,j].map(ae=>ce(ae,P,X));!(Ae(me)&&se(e,k,P,E))&&!Qo(me,re)&&y(k,{item:P,name:X,position:S+1})}}catch(O){u(`The answers that are stored cannot be read: ${O.message}`);return}u(""),a(k),d(!Ge(e,k)),s("items")}function C($){try{let v=Zo(e,$),k=We(wt(e,v.annotator)??Me(v.annotator),v);if(u(""),n)return void b(v.annotator,k);a({...k,saved:k.saved??v.changed}),d(!Ge(e,k)),s("items")}catch(v){u(v.message)}}let L=J(()=>r?rn(e,r.annotator):[],[r?.annotator]);function D(){ss(rs(r.annotator),Xo(e,r,L));let $={...h.current,saved:new Date().toISOString()};h.current=$,a($),Ge(e,$)}N(()=>{let $=k=>{document.activeElement?.blur();let O=h.current;(n?l.current.unsent.size>0:O?.changed&&O.changed>(O.saved??""))&&k.preventDefault()},v=k=>{let O=h.current;if(!O||!k.newValue||!os(e,O.annotator,k.key))return;let j=We(O,JSON.parse(k.newValue));h.current=j,a(j);for(let S of l.current.unsent.values())S.known.annotator===j.annotator&&(S.known=j)};return addEventListener("beforeunload",$),addEventListener("storage",v),()=>{removeEventListener("beforeunload",$),removeEventListener("storage",v)}},[]);let R=f?i`<p class="banner fail" role="alert">! This browser does not keep your answers. Use “Save file” often, and before you close the page.</p>`:null,q=c&&i`<p class="banner fail" role="alert">! ${c}
    ${m>0&&i` <button onClick=${x}>Store again</button>`}</p>`;return o==="practice"?i`<${is} task=${as(e)} items=${as(e).items} work=${Me("practice")}
      isPractice leave=${()=>s("start")} />`:o==="start"?i`${q}<${$a} task=${e} intro=${t} isStored=${n!=null} begin=${b} resume=${C}
      practise=${()=>s("practice")} />`:i`${R}${q}<${is} key=${r.annotator} task=${e} items=${L} work=${r} change=${g} save=${D} isRefused=${f}
    isStored=${n!=null} unsent=${m&&(c?"not stored":"storing …")} resume=${C} leave=${()=>s("start")} />`}function $a({task:e,intro:t,isStored:n,begin:o,resume:s,practise:r}){let[a,c]=w(ns(e)),[u,f]=w("");function d(m){m.preventDefault();let p=a.trim().replace(/\s+/g," ");p?e.others?.includes(p)?f(`${p} has labelled these items: a third annotator decides.`):o(p):f("Type your name first.")}return i`
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
      <${cs} resume=${s} />
      <p id="name-gap" class="fail" role="alert">${u}</p>
    </form>
    <section aria-label="What is asked">
      ${e.criteria.map(m=>i`
        <section class="criterion"><h2>${m.name??"Preference"}</h2><${us} criterion=${m} /></section>`)}
    </section>
    <${ds} task=${e} />
  `}function cs({resume:e}){let t=M(null);async function n(o){let[s]=o.currentTarget.files;o.currentTarget.value="",s&&e(await s.text())}return i`<button type="button" onClick=${()=>t.current.click()}>Resume from file</button>
    <input type="file" hidden ref=${t} accept=".jsonl,.json,application/jsonl" aria-label="File of your answers" onChange=${n} />`}var kt=e=>e.levels.every((t,n)=>t.shown===String(n+1));function us({criterion:e}){let t=e.levels?.filter(n=>n.name||n.about)??[];return i`
    <p class="foreign">${e.question}</p>
    ${e.guide&&i`<p class="foreign guide">${e.guide}</p>`}
    ${t.length>0&&i`<dl class="anchors">${t.map(n=>i`
      <dt>${kt(e)||!n.name?n.shown:n.name}</dt>
      <dd>${kt(e)&&n.name}${kt(e)&&n.name&&n.about?": ":""}${n.about}</dd>`)}</dl>`}
  `}function ds({task:e,isOpen:t}){let o=[...e.pairs?[["1","the first is better"],["2","the second is better"],["3","they are equally good"],["0","cannot judge"]]:[["1 … 9","score, by the number on the button; the next criterion follows"],["0","cannot judge this criterion; where the score is typed, it begins one"]],["Enter","next item"],["← →","item before, item after"],["↑ ↓","criterion before, after"],["Backspace","undo the last answer"],["m","comment (Esc leaves it)"],["f","flag this item, to come back to it"],["?","these keys"]];return i`<details class="keys" open=${t}><summary>Keys</summary><dl>${o.map(([s,r])=>i`<dt><kbd>${s}</kbd></dt><dd>${r}</dd>`)}</dl></details>`}function as(e){let t=s=>({text:s,steps:""}),o={id:"practice",part:0,again:"",outputs:e.pairs?[t("You can return it within 30 days, with the receipt."),t("Returns are possible.")]:[t("You can return it within 30 days, with the receipt.")],about:[{title:"Input",text:"I bought a lamp last week. Can I return it?"}],criteria:e.criteria.map((s,r)=>r)};return{...e,packet:"practice",items:[o]}}function is({task:e,items:t,work:n,change:o,save:s,leave:r,resume:a,isPractice:c,isRefused:u,isStored:f,unsent:d}){let[m,p]=w(n),l=c?m:n,h=t.findIndex(T=>!yt(e,l,T)),[g,y]=w(h<0?t.length:h),[x,_]=w(0),[b,C]=w([]),[{words:L},D]=w({words:""}),R=T=>D({words:T}),[q,$]=w(!0),[v,k]=w(!1),[O,j]=w(0),S=M(null),P=M(null);Y(()=>{P.current&&S.current?.querySelector(P.current)?.focus(),P.current=null});let E=t[g]??null,X=t.filter(T=>yt(e,l,T)).length,me=ga(E,c);function re(T){let I=Math.max(0,Math.min(t.length,T));y(I);let V=t[I]?.criteria.findIndex(U=>se(e,l,t[I],U))??0;_(Math.max(0,V)),k(!1),R(I===t.length?"End of the items.":`Item ${I+1} of ${t.length}.`),scrollTo(0,0)}function qe(T,I,V=!1){let U=je(e.criteria[E.criteria[T]]),le=ce(l,E,U)??{choice:null,cannot:!1,comment:""},G={...le,...I,at:new Date().toISOString()},Z={...l,answers:{...l.answers,[E.id]:{...l.answers[E.id],[U]:G}},seconds:{...l.seconds,[E.id]:(l.seconds[E.id]??0)+me.take()}};return"comment"in I||C([...b,{at:g,place:T,before:le}]),c?p(Z):o(Z,V||e.reason&&se(e,Z,E,E.criteria[T])?null:{item:E,name:U,position:g+1}),Z}function ae(T,I,V){let U=qe(T,{choice:I,cannot:I===null}),le=e.criteria[E.criteria[T]].name,G=E.criteria.findIndex(xt=>se(e,U,E,xt)),Z=E.criteria.findIndex((xt,$s)=>$s>T&&se(e,U,E,xt)),Qe=e.reason&&se(e,U,E,E.criteria[T]),ms=Qe?T:Z<0?G<0?T:G:Z;_(ms),R(`${V}${le?` for ${le}`:""}. ${G<0?"Enter: next item.":""}`),Qe&&(P.current=`[data-place="${T}"] textarea`)}function $e(){let T=E.criteria.findIndex(le=>se(e,l,E,le));if(T<0){re(g+1),u&&X%la===0&&j(X);return}_(T);let I=e.criteria[E.criteria[T]].name,V=ce(l,E,I??"");R(Ae(V)?"A reason is missing.":`Not answered yet${I?`: ${I}`:""}.`);let U=e.pairs||e.criteria[E.criteria[T]].levels.length;P.current=`[data-place="${T}"] ${Ae(V)?"textarea":U?"h3":"input"}`}function he(){let T=b.at(-1);if(!T){R("There is nothing to undo.");return}C(b.slice(0,-1));let I=t[T.at],V=je(e.criteria[I.criteria[T.place]]),U=ce(l,I,V),le={...T.before,comment:U?.comment??"",at:new Date().toISOString()},G={...l,answers:{...l.answers,[I.id]:{...l.answers[I.id],[V]:le}}};c?p(G):o(G,{item:I,name:V,position:T.at+1}),y(T.at),_(T.place),R("The last answer is undone.")}function Ye(){let T=!l.flags[E.id]?.on,I={...l.flags,[E.id]:{on:T,at:new Date().toISOString()}};c?p({...l,flags:I}):o({...l,flags:I}),R(T?"Flagged.":"Flag removed.")}function A(T){if(T.ctrlKey||T.metaKey){T.key==="Enter"&&E&&(T.preventDefault(),$e());return}if(T.altKey||!q||T.defaultPrevented)return;if(fa(T.target)){if(T.key==="Escape"){T.target.blur();let V=E?.criteria.findIndex(U=>se(e,l,E,U))??-1;V>=0&&_(V)}return}let I={"?":()=>k(!v),ArrowLeft:()=>re(g-1),Backspace:he};if(E){let V=e.criteria[E.criteria[x]],U=e.pairs?fs:V.levels??[];(e.pairs?U.map(({value:G,name:Z})=>[G,Z]):U.map(G=>[G.value,G.shown])).forEach(([G,Z],Qe)=>I[Qe+1]=()=>ae(x,G,Z)),!U.length&&/^[0-9.-]$/.test(T.key)&&S.current?.querySelector(`[data-place="${x}"] input`)?.focus(),U.length&&(I[0]=()=>ae(x,null,"Cannot judge")),I.ArrowRight=()=>re(g+1),I.ArrowDown=()=>_(Math.min(E.criteria.length-1,x+1)),I.ArrowUp=()=>_(Math.max(0,x-1)),I.f=Ye,I.m=()=>{let G=b.at(-1),Z=G?.at===g&&se(e,l,E,E.criteria[x])?G.place:x;_(Z),P.current=`[data-place="${Z}"] textarea`,R("Comment.")},pa(T.target)||(I.Enter=$e)}I[T.key]&&(T.preventDefault(),I[T.key]())}let B=M(null);B.current=A,Y(()=>{let T=I=>B.current(I);return document.addEventListener("keydown",T),()=>document.removeEventListener("keydown",T)},[]);let ie=i`<${_a} task=${e} items=${t} work=${l} nDone=${X} at=${g} isPractice=${c}
    isRefused=${u} isStored=${f} unsent=${d} save=${s} leave=${r} resume=${a} />`,we=O>0&&u?i`<p class="banner fail" role="alert">! ${Q(O,"item")} done, and this browser does not keep them.
        <button onClick=${()=>{s(),j(0)}}>Save file</button></p>`:null,z=i`<p class="hidden" role="status" aria-live="polite">${L}</p>`;return E?i`
    ${ie}${we}${z}
    ${v&&i`<${wa} task=${e} hasKeys=${q} setHasKeys=${$} close=${()=>k(!1)} />`}
    <div class=${e.pairs?"item pair":"item"}>
      <${ba} task=${e} item=${E} at=${g} />
      <div class="panel" ref=${S} onClick=${ha}>
        ${E.criteria.map((T,I)=>i`
          <${va} key=${`${E.id} ${T}`} task=${e} criterion=${e.criteria[T]} place=${I} isActive=${I===x}
            isGap=${se(e,l,E,T)} answer=${ce(l,E,je(e.criteria[T]))}
            activate=${()=>_(I)} choose=${ae} comment=${(V,U)=>qe(I,{comment:V},U)} next=${$e} />`)}
        <div class="moves">
          <button onClick=${()=>re(g-1)} disabled=${g===0}>← Back</button>
          <button aria-pressed=${!!l.flags[E.id]?.on} onClick=${Ye}>⚑ Flag</button>
          <button onClick=${he} disabled=${!b.length}>Undo</button>
          <button class="main" onClick=${$e}>Next item</button>
        </div>
        <button class="plain" aria-expanded=${v} onClick=${()=>k(!v)}>? Keys</button>
      </div>
    </div>`:i`${ie}${we}${z}<${ka} task=${e} items=${t} work=${l} go=${re} save=${s} leave=${r}
      isPractice=${c} isStored=${f} unsent=${d} />`}function ha(e){e.detail&&e.target.closest("button")?.blur()}function ga(e,t){let n=M({last:0,total:0}),o=()=>{let s=performance.now(),r=s-n.current.last;n.current.last&&r<=ia&&!document.hidden&&(n.current.total+=r/1e3),n.current.last=s};return N(()=>{if(t)return;n.current={last:performance.now(),total:0};let s=["keydown","pointerdown","pointermove","wheel"];for(let r of s)addEventListener(r,o,{passive:!0});return()=>s.forEach(r=>removeEventListener(r,o))},[e?.id]),{take(){o();let{total:s}=n.current;return n.current.total=0,s}}}function _a({task:e,items:t,work:n,nDone:o,at:s,isPractice:r,isRefused:a,isStored:c,unsent:u,save:f,leave:d,resume:m}){if(r)return i`<header class="status"><p><strong>Practice</strong> Nothing that you do here is kept.</p>
      <button class="main" onClick=${d}>Back to the start</button></header>`;let p=Object.values(n.seconds).filter(x=>x>0),l=p.length<ca?e.seconds:ua(p),h=Math.ceil((t.length-o)*l/60),g=c?"stored":a?"not kept":"kept in this browser",y=u||(n.changed?a?g:`${g} at ${da(c?n.saved??n.changed:n.changed)}`:"");return i`
    <header class="status">
      <p><bdi><strong>${n.annotator}</strong></bdi>
        <span>${s<t.length?`item ${s+1} of ${t.length}`:`${t.length} items`}, ${o} done</span>
        ${y&&i`<span>${y}</span>`}
        ${o<t.length&&i`<span>about ${Q(h,"minute")} left</span>`}</p>
      <progress max=${t.length} value=${o} aria-label="Items done"></progress>
      <span class="tools"><button onClick=${f}>Save file</button><${cs} resume=${m} />
        <button class="plain" onClick=${d}>Task</button></span>
    </header>`}function ba({task:e,item:t,at:n}){let o=M(null);Y(()=>{document.activeElement===document.body&&o.current?.focus({preventScroll:!0})},[t.id]);let s=e.pairs?["FIRST","SECOND"]:["Output"];return i`
    <div class="texts">
      <h2 ref=${o} tabindex="-1">Item ${n+1}</h2>
      ${t.labels&&i`<section class="labels" aria-label="Labels that differ"><h3>Labels that differ</h3><dl>${t.labels.map(({title:r,text:a})=>i`
        <dt><bdi>${r}</bdi></dt><dd dir="auto">${a}</dd>`)}</dl></section>`}
      ${t.about.map(({title:r,text:a,images:c})=>i`<section><h3>${r}</h3><${un} text=${a} images=${c} /></section>`)}
      <div class="outputs">
        ${t.outputs.map((r,a)=>i`
          <section class="output"><h3>${s[a]}</h3>
            ${r.steps&&i`<details><summary>Steps</summary><${un} text=${r.steps} /></details>`}
            <${un} text=${r.text} images=${r.images} /></section>`)}
      </div>
    </div>`}function un({text:e,images:t}){return i`<div class="foreign">${e.split(/\n{2,}/).map(n=>i`<p dir="auto">${n}</p>`)}<${Ut} images=${t} /></div>`}var fs=[{value:"first",name:"First is better"},{value:"second",name:"Second is better"},{value:"tie",name:"Equally good"}];function va({task:e,criterion:t,place:n,isActive:o,isGap:s,answer:r,activate:a,choose:c,comment:u,next:f}){let d=`question-${n}`,m=e.pairs?fs.map(({value:l,name:h})=>({value:l,shown:h,name:"",about:""})):t.levels,p=!e.pairs&&kt(t);return i`
    <section class=${o?"question active":"question"} data-place=${n} aria-labelledby=${d} onFocusIn=${a}>
      <h3 id=${d} tabindex="-1"><button class="plain" aria-expanded=${o} onClick=${a}>${t.name??"Preference"}</button>
        <span class=${s?"note":"pass"}>${s?Ae(r)?"reason missing":"open":"✓"}</span></h3>
      ${o&&i`<${us} criterion=${t} />`}
      ${m.length?i`<div class="scale" role="radiogroup" aria-labelledby=${d}>
            ${m.map((l,h)=>i`
              <button role="radio" aria-checked=${String(r?.choice===l.value)} onClick=${()=>c(n,l.value,l.shown)}>
                ${(p||!l.name)&&i`<strong>${l.shown}</strong>`}
                ${p&&l.name&&" "}${l.name&&i`<span>${l.name}</span>`}
                ${!p&&o&&i` <kbd aria-hidden="true">${h+1}</kbd>`}</button>`)}
            <button role="radio" class="cannot" aria-checked=${String(!!r?.cannot)}
              onClick=${()=>c(n,null,"Cannot judge")}><span>Cannot judge</span> ${o&&i`<kbd aria-hidden="true">0</kbd>`}</button>
          </div>`:i`<${ya} criterion=${t} answer=${r} place=${n} choose=${c} />`}
      ${(o||r?.comment)&&i`
        <label class="comment"><span>${e.reason?"Reason (required)":"Comment (optional)"}</span>
          <textarea rows="2" value=${r?.comment??""} onInput=${l=>u(l.currentTarget.value,!0)} onChange=${l=>u(l.currentTarget.value)}
            onKeyDown=${l=>{l.key==="Enter"&&!l.shiftKey&&!l.isComposing&&!l.ctrlKey&&!l.metaKey&&(l.preventDefault(),l.currentTarget.blur(),f())}}></textarea></label>`}
    </section>`}function ya({criterion:e,answer:t,place:n,choose:o}){let[s,r]=w(t?.choice??""),[a,c]=w("");N(()=>r(t?.choice??""),[t?.choice]);function u(f){f.preventDefault();let d=Number(s);if(s===""||!(d>=e.min&&d<=e.max)||e.whole&&!Number.isInteger(d)){c(`Type a ${e.whole?"whole number":"number"} from ${e.min} to ${e.max}.`);return}c(""),f.currentTarget.querySelector("input").blur(),o(n,d,String(d))}return i`<form class="scale" onSubmit=${u} novalidate>
    <label>Score, ${e.min} to ${e.max} <input type="number" step="any" min=${e.min} max=${e.max}
      value=${s} onInput=${f=>r(f.currentTarget.value)} /></label>
    <button>Set</button>
    <button type="button" class="cannot" aria-pressed=${!!t?.cannot} onClick=${()=>o(n,null,"Cannot judge")}>Cannot judge</button>
    <p class="fail" role="alert">${a}</p></form>`}function wa({task:e,hasKeys:t,setHasKeys:n,close:o}){return i`<section class="help" aria-label="Keys"><${ds} task=${e} isOpen />
    <label><input type="checkbox" checked=${t} onChange=${s=>n(s.currentTarget.checked)} /> Single keys are on</label>${" "}
    <button onClick=${o}>Close</button></section>`}function ka({task:e,items:t,work:n,go:o,save:s,leave:r,isPractice:a,isStored:c,unsent:u}){let f=M(null);if(Y(()=>f.current?.focus(),[]),a)return i`<section class="end"><h2 ref=${f} tabindex="-1">That was the practice item</h2>
      <button class="main" onClick=${r}>Back to the start</button></section>`;let d=t.map((h,g)=>[h,g]).filter(([h])=>!yt(e,n,h)),m=t.map((h,g)=>[h,g]).filter(([h])=>n.flags[h.id]?.on),p=t.reduce((h,g)=>h+Object.values(n.answers[g.id]??{}).filter(y=>y.cannot).length,0),l=(h,g)=>g.length>0&&i`<h3>${h}</h3><p class="jumps">${g.map(([,y])=>i`<button onClick=${()=>o(y)}>Item ${y+1}</button>`)}</p>`;return i`
    <section class="end">
      <h2 ref=${f} tabindex="-1">${d.length?`${Q(d.length,"item is","items are")} not finished`:"All items are done"}</h2>
      ${p>0&&i`<p>You could not judge ${Q(p,"criterion","criteria")}: ${c&&!e.pairs?"no label is stored there":"that is recorded as such"}.</p>`}
      ${l("Not finished",d)}
      ${l("Flagged",m)}
      ${c?i`<p>${u?`Not every answer is stored yet: ${u}.`:"Every answer is stored. You can close this page."}</p>`:i`<p>${e.adjudicates?"Save the file, and join it with the files of the annotators: judgekit label --merge.":"Save the file and send it back to whoever gave you this page."}</p><button class="main" onClick=${s}>Save file</button>`}
    </section>`}var ps=Tn(),dn=document.getElementById("cases");if(ps&&dn){dn.querySelector(".static").classList.add("print-only");let e=document.createElement("div");e.className="screen-only",dn.querySelector(".static").before(e),ne(i`<${wo} index=${ps} />`,e)}xo();ko();Co(document);Ko();Vo();zo();ls();})();
