() => {
  const parse = (css) => {
    const canvas = parse.canvas ??= Object.assign(document.createElement("canvas"), { width: 1, height: 1 });
    const pen = canvas.getContext("2d", { willReadFrequently: true });
    pen.clearRect(0, 0, 1, 1);
    pen.fillStyle = css;
    pen.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = pen.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
  };
  const over = (top, under) => top.slice(0, 3).map((c, i) => c * top[3] + under[i] * (1 - top[3]));
  const luminance = (rgb) => {
    const [r, g, b] = rgb.map((c) => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (element) => {
    const layers = [];
    for (let one = element; one; one = one.parentElement) layers.push(parse(getComputedStyle(one).backgroundColor));
    return layers.reverse().reduce((under, top) => over(top, under), [255, 255, 255]);
  };
  const seen = (element) => {
    const box = element.getBoundingClientRect();
    return element.checkVisibility({ opacityProperty: true, visibilityProperty: true }) && box.width > 1 && box.height > 1;
  };
  const idle = (element) => element.closest(":disabled, .td-impossible, [aria-disabled=true], .hide, [aria-hidden=true]");
  const measure = (element, text, color) => {
    const style = getComputedStyle(element), ground = behind(element);
    const [light, dark] = [luminance(over(parse(color), ground)), luminance(ground)].sort((a, b) => b - a);
    const size = parseFloat(style.fontSize);
    return {
      text: text.slice(0, 60), ratio: (light + 0.05) / (dark + 0.05),
      large: size >= 24 || (size >= 18.66 && +style.fontWeight >= 700),
      where: element.tagName.toLowerCase() + (element.closest("[id]")?.id ? " in #" + element.closest("[id]").id : ""),
    };
  };
  const found = [];
  for (const element of document.querySelectorAll("gradio-app *")) {
    if (["STYLE", "SCRIPT", "TITLE", "OPTION"].includes(element.tagName) || !seen(element) || idle(element)) continue;
    const text = [...element.childNodes].filter((node) => node.nodeType === 3).map((node) => node.data.trim()).join(" ");
    if (text.trim()) found.push(measure(element, text.trim(), getComputedStyle(element).color));
    if (element.matches("input:not([type=radio]):not([type=checkbox]):not([type=file]):not([type=range]), textarea")) {
      if (element.value) found.push(measure(element, element.value, getComputedStyle(element).color));
      else if (element.placeholder)
        found.push(measure(element, element.placeholder, getComputedStyle(element, "::placeholder").color));
    }
  }
  return found;
}
