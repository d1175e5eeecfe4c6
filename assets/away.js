// While the server does not answer, what is pressed would be lost without a word: the page says so and takes nothing.
(() => {
  const AGAIN_MS = 1000;
  const ask = window.fetch.bind(window);
  let away = false;
  const show = (gone) => {
    document.querySelector("#away")?.classList.toggle("td-gone", gone);
    document.querySelectorAll("#desk, #sidebar").forEach((part) => part.toggleAttribute("inert", gone));
  };
  const look = async () => {
    try {
      const reply = await ask("gradio_api/app_id", {cache: "no-store"});
      const {app_id} = await reply.json();
      if (app_id && String(app_id) !== String(window.gradio_config?.app_id)) return location.reload();  // another server
      away = false;
      show(false);
    } catch {
      setTimeout(look, AGAIN_MS);
    }
  };
  window.fetch = async (what, ...options) => {
    try {
      return await ask(what, ...options);
    } catch (error) {
      const address = new URL(what?.url ?? what, location.href);
      if (!away && error instanceof TypeError && address.origin === location.origin) {
        away = true;
        show(true);
        setTimeout(look, AGAIN_MS);
      }
      throw error;
    }
  };
})();
