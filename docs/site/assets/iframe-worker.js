/* Browsers start no worker for a page on disk, and the search runs in one. Here it runs in a hidden
   frame: the script that a worker would run gets the page's messages and answers them. */
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(address) {
      super();
      this.onmessage = null;
      this.onerror = null;
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      this.ready = new Promise((resolve) => {
        if (document.body) resolve();
        else addEventListener("DOMContentLoaded", resolve);
      }).then(() => {
        document.body.append(this.frame);
        const inside = this.frame.contentWindow;
        inside.postMessage = (data) => this.deliver(this, data);
        inside.importScripts = (...names) =>
          names.reduce((before, name) => before.then(() => this.load(name)), Promise.resolve());
        return this.load(address).then(() => inside);
      });
    }

    load(name) {
      return new Promise((resolve, reject) => {
        const script = this.frame.contentDocument.createElement("script");
        script.src = name;
        script.onload = resolve;
        script.onerror = reject;
        this.frame.contentDocument.body.append(script);
      });
    }

    /* As between a page and a worker, messages are copies and arrive later. */
    deliver(target, data) {
      const copy = structuredClone(data);
      setTimeout(() => {
        const event = new MessageEvent("message", { data: copy });
        target.dispatchEvent(event);
        if (target === this) this.onmessage?.(event);
      });
    }

    postMessage(data) {
      this.ready.then(
        (inside) => this.deliver(inside, data),
        () => this.onerror?.(new ErrorEvent("error")),
      );
    }

    terminate() {
      this.frame.remove();
    }
  };
}
