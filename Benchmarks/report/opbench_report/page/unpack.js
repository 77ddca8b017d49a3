// Unpacks what the page holds packed, and runs the script that draws.
"use strict";

async function unpacked(identifier) {
  const packed = Uint8Array.from(atob(document.getElementById(identifier).textContent), (one) => one.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).text();
}

const drawing = (async () => {
  const script = document.createElement("script");
  script.textContent = await unpacked("plotly");
  document.head.append(script);
})();
