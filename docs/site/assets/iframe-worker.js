/* Browsers start no worker for a page on disk, and the search runs in one. Here it runs in a hidden
   frame: the script that a worker would run gets the page's messages and answers them. */
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(address) {
      super();
      this.onmessage = null;
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      this.waiting = [];
      const ready = new Promise((resolve) => {
        const start = () => {
          document.body.append(this.frame);
          const inside = this.frame.contentWindow;
          inside.postMessage = (data) => this.receive({ data });
          inside.importScripts = (...names) =>
            names.reduce((before, name) => before.then(() => this.load(name)), Promise.resolve());
          this.load(address).then(() => resolve(inside));
        };
        document.body ? start() : addEventListener("DOMContentLoaded", start);
      });
      this.ready = ready;
    }
    load(name) {
      return new Promise((resolve, reject) => {
        const inside = this.frame.contentDocument;
        const script = inside.createElement("script");
        script.src = name;
        script.onload = resolve;
        script.onerror = reject;
        inside.body.append(script);
      });
    }
    receive({ data }) {
      const event = new MessageEvent("message", { data });
      this.dispatchEvent(event);
      if (this.onmessage) this.onmessage(event);
    }
    postMessage(data) {
      this.ready.then((inside) => {
        const event = new inside.MessageEvent("message", { data });
        inside.dispatchEvent(event);
      });
    }
    terminate() {
      this.frame.remove();
    }
  };
}
