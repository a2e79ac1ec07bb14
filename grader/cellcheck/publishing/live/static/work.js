// "Download my work": what JupyterLite keeps of a learner's in this browser, as one zip file. Nothing is sent anywhere.
"use strict";

for (const button of document.querySelectorAll("button.my-work")) {
  const status = button.parentElement.querySelector("[role=status]");
  const { storage, files } = JSON.parse(button.dataset.work);
  button.hidden = false;
  show();

  button.addEventListener("click", async () => {
    const kept = await work(storage);
    if (!kept.length) {
      status.textContent = "There is nothing of yours in this browser yet.";
      return;
    }
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([zip(kept)], { type: "application/zip" }));
    link.download = `my-work-${new Date().toISOString().slice(0, 10)}.zip`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60000);
    status.textContent = `${link.download}: ${kept.map(({ name }) => name).join(", ")}`;
  });

  async function show() {
    const kept = await work(storage).catch(() => []);
    const notebooks = kept.filter(({ name }) => name.endsWith(".ipynb")).map(({ name }) => name);
    const older = notebooks.filter((name) => !files.includes(name));
    if (notebooks.length) status.textContent = `In this browser: ${notebooks.join(", ")}.`;
    if (older.length) status.textContent += ` Not of this version: ${older.join(", ")}; you find them in the list of files.`;
    const record = kept.find(({ name }) => name.endsWith(".course-progress.json"));
    if (!record) return;
    const best = JSON.parse(new TextDecoder().decode(record.bytes)).best ?? {};
    for (const place of document.querySelectorAll("[data-progress]")) {
      const done = Object.keys(best[place.dataset.progress] ?? {}).length;
      if (done) place.textContent = ` ${done} of ${place.dataset.of} exercises have points.`;
    }
  }
}

// Only looks: a database that isn't there yet is not made, or JupyterLite would find it without its tables.
async function work(storage) {
  const there = await indexedDB.databases();
  if (!there.some(({ name }) => name === storage)) return [];
  const database = await done(indexedDB.open(storage));
  try {
    if (!database.objectStoreNames.contains("files")) return [];
    const table = database.transaction("files").objectStore("files");
    const [names, models] = await Promise.all([done(table.getAllKeys()), done(table.getAll())]);
    return names.flatMap((name, i) => (models[i]?.type === "directory" ? [] : [{ name, bytes: bytes(models[i]) }]));
  } finally {
    database.close();
  }
}

const done = (request) =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });

function bytes({ format, content }) {
  if (format === "base64") return Uint8Array.from(atob(content), (letter) => letter.charCodeAt(0));
  const text = typeof content === "string" ? content : JSON.stringify(content, null, 1) + "\n";
  return new TextEncoder().encode(text);
}

// A zip file whose entries are stored as they are.
function zip(entries) {
  const parts = [], directory = [];
  let offset = 0;
  for (const { name, bytes } of entries) {
    const path = new TextEncoder().encode(name);
    const fields = [20, 0x800, 0, 0, 0x21, crc(bytes), bytes.length, bytes.length, path.length, 0];
    const head = numbers([0x04034b50, ...fields], [4, 2, 2, 2, 2, 2, 4, 4, 4, 2, 2]);
    parts.push(head, path, bytes);
    directory.push(numbers([0x02014b50, 20, ...fields, 0, 0, 0, 0, offset], [4, 2, 2, 2, 2, 2, 2, 4, 4, 4, 2, 2, 2, 2, 2, 4, 4]), path);
    offset += head.length + path.length + bytes.length;
  }
  const size = directory.reduce((sum, part) => sum + part.length, 0);
  const count = entries.length;
  return new Blob([...parts, ...directory, numbers([0x06054b50, 0, 0, count, count, size, offset, 0], [4, 2, 2, 2, 2, 4, 4, 2])]);
}

function numbers(values, widths) {
  const view = new DataView(new ArrayBuffer(widths.reduce((sum, width) => sum + width, 0)));
  let place = 0;
  values.forEach((value, i) => {
    if (widths[i] === 4) view.setUint32(place, value, true);
    else view.setUint16(place, value, true);
    place += widths[i];
  });
  return new Uint8Array(view.buffer);
}

function crc(bytes) {
  let sum = -1;
  for (const byte of bytes) {
    sum ^= byte;
    for (let bit = 0; bit < 8; bit++) sum = sum & 1 ? (sum >>> 1) ^ 0xedb88320 : sum >>> 1;
  }
  return (sum ^ -1) >>> 0;
}
