// Pyodide in Node, which answers questions: a line of JSON with arguments in, a line with what Python says out.
//   node python.mjs FOLDER-WITH-PYODIDE REPOSITORY
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const [folder, repository] = process.argv.slice(2);
const { loadPyodide } = await import(pathToFileURL(`${folder}/pyodide.mjs`));
const quiet = () => {};
const python = await loadPyodide({ indexURL: `${folder}/`, packageCacheDir: `${folder}/`, stdout: quiet, stderr: quiet });
await python.loadPackage(["numpy"], { messageCallback: quiet });
python.FS.mkdirTree("/course");
python.FS.mount(python.FS.filesystems.NODEFS, { root: repository }, "/course");
const ask = python.runPython(`
import json, os, sys
sys.path[:0] = ["/course", "/course/grader"]
sys.dont_write_bytecode = True
os.environ["CELLCHECK_LESSONS"] = "/course/transformer_course/lessons"

# Of lessons 1 and 2 it is the part that needs no PyTorch, and has a stand-in for it; lesson 9 has none.
from cellcheck.browser.absent import stand_in
as_it_was = list(sys.meta_path)

def ask(line):
    sys.meta_path[:] = as_it_was
    for name in [name for name in sys.modules if name.partition(".")[0] == "torch"]:
        del sys.modules[name]
    if not line.startswith('["09_'):
        stand_in("torch")
    from tests.pyodide.verdicts import verdicts
    try:
        return json.dumps(verdicts(*json.loads(line)))
    except Exception as error:
        import traceback
        return json.dumps({"stopped": traceback.format_exc()[-2000:]})

ask
`);
console.log("ready");
for await (const line of createInterface({ input: process.stdin })) console.log(ask(line));
