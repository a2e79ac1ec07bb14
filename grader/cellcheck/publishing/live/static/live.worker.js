// Python beside the page: loads Pyodide, NumPy and the course from this site, then checks what the page sends.
"use strict";

let python;

const say = (stage) => postMessage({ kind: "stage", stage });

// The page may be older than the wheels beside it: what they are now stands in the list, with their hashes.
async function wheelsOf(base, names) {
  const answer = await fetch(base + "pyodide-lock.json", { cache: "no-cache" });
  const { packages } = await answer.json();
  return Promise.all(
    names.map(async (name) => {
      const { file_name, sha256 } = packages[name];
      const bytes = sha256.match(/../g).map((pair) => String.fromCharCode(parseInt(pair, 16)));
      const wheel = await fetch(`${base}${file_name}?${sha256}`, { integrity: `sha256-${btoa(bytes.join(""))}` });
      if (!wheel.ok) throw new Error(`${file_name} could not be loaded`);
      return wheel.arrayBuffer();
    }),
  );
}

async function begin({ base, packages, wheels }) {
  say("Python");
  const coming = wheelsOf(base, wheels); // meanwhile
  coming.catch(() => {}); // told when it is waited for
  importScripts(base + "pyodide.js");
  python = await loadPyodide({ indexURL: base });
  say(packages.join(", "));
  await python.loadPackage(packages, { messageCallback: () => {}, errorCallback: () => {} });
  if (packages.some((name) => !python.loadedPackages[name])) throw new Error("a package could not be loaded");
  say("the checks");
  for (const wheel of await coming) python.unpackArchive(wheel, "wheel");
  python.runPython("import importlib; importlib.invalidate_caches(); from cellcheck.checking.typed import check_typed");
}

let ready;

onmessage = async ({ data }) => {
  try {
    ready ??= begin(data);
    await ready;
    if (data.text === undefined) {
      postMessage({ kind: "ready" });
      return;
    }
    say("your answer");
    python.globals.set("asked", python.toPy([data.lesson, data.symbol, data.text]));
    const said = python.runPython("import json; json.dumps(check_typed(*asked))");
    postMessage({ kind: "verdict", ...JSON.parse(said) });
  } catch (error) {
    postMessage({ kind: "failed", why: String(error.message ?? error).trim().split("\n").pop() });
  }
};
