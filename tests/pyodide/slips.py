"""Answers that no catalogue has: what NumPy makes easy to get wrong, or does differently where an index has 32 bits."""

SLIPS: dict[str, dict[str, str]] = {
    "softmax": {
        "adds up everything, overflows": """
def softmax(x, axis=-1):
    return np.exp(x) / np.exp(x).sum()
""",
        "powers of two": """
def softmax(x, axis=-1):
    powers = 2.0 ** (x - x.max(axis=axis, keepdims=True))
    return (powers / powers.sum(axis=axis, keepdims=True)).astype(x.dtype)
""",
        "stops": """
def softmax(x, axis=-1):
    return x.exp()
""",
        "a list": """
def softmax(x, axis=-1):
    e = np.exp(x - x.max(axis, keepdims=True))
    return (e / e.sum(axis, keepdims=True)).tolist()
""",
        "in place": """
def softmax(x, axis=-1):
    x -= x.max(axis=axis, keepdims=True)
    np.exp(x, out=x)
    x /= x.sum(axis=axis, keepdims=True)
    return x
""",
        "a view of its argument": """
def softmax(x, axis=-1):
    e = x[...]
    e -= e.max(axis=axis, keepdims=True)
    e = np.exp(e)
    return e / e.sum(axis=axis, keepdims=True)
""",
        "a matrix": """
def softmax(x, axis=-1):
    x = np.matrix(x)
    e = np.exp(x - x.max(axis))
    return e / e.sum(axis)
""",
        "a generator": """
def softmax(x, axis=-1):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    total = sum(row for row in np.moveaxis(e, axis, 0))
    return (each / total for each in np.moveaxis(e, axis, 0))
""",
        "sums a generator": """
def softmax(x, axis=-1):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / np.expand_dims(sum(row for row in np.moveaxis(e, axis, 0)), axis)
""",
        "whole numbers on the way": """
def softmax(x, axis=-1):
    e = np.exp((x - x.max(axis=axis, keepdims=True)).astype(int))
    return (e / e.sum(axis=axis, keepdims=True)).astype(x.dtype)
""",
        "half the bits on the way": """
def softmax(x, axis=-1):
    e = np.exp((x - x.max(axis=axis, keepdims=True)).astype(np.float16))
    return (e / e.sum(axis=axis, keepdims=True)).astype(x.dtype)
""",
        "always float64": """
def softmax(x, axis=-1):
    e = np.exp(x.astype(float) - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)
""",
        "keeps its first answer": """
def softmax(x, axis=-1, kept=[]):
    if not kept:
        e = np.exp(x - x.max(axis=axis, keepdims=True))
        kept.append(e / e.sum(axis=axis, keepdims=True))
    return kept[0]
""",
        "one buffer for all": """
buffer = {}
def softmax(x, axis=-1):
    out = buffer.setdefault(x.shape, np.empty_like(x))
    np.exp(x - x.max(axis=axis, keepdims=True), out=out)
    out /= out.sum(axis=axis, keepdims=True)
    return out
""",
    },
    "softmax_backward": {
        "half of it": """
def softmax_backward(weights, gradient):
    return weights * gradient
""",
        "another axis, in float64": """
def softmax_backward(weights, gradient):
    mean = (weights * gradient).sum(axis=0, keepdims=True)
    return (weights * (gradient - mean)).astype(np.float64)
""",
        "takes it off its argument": """
def softmax_backward(weights, gradient):
    gradient -= (weights * gradient).sum(axis=-1, keepdims=True)
    return weights * gradient
""",
        "the whole Jacobian, for one row": """
def softmax_backward(weights, gradient):
    return (np.diag(weights) - np.outer(weights, weights)) @ gradient
""",
        "a masked array": """
def softmax_backward(weights, gradient):
    weights = np.ma.masked_equal(weights, 0)
    return weights * (gradient - (weights * gradient).sum(axis=-1, keepdims=True))
""",
    },
    "cross_entropy": {
        "ids as int32": """
def cross_entropy(logits, targets, pad_id=0):
    targets = targets.astype(np.int32)
    counts = targets != pad_id
    if not counts.any():
        raise ValueError("padding alone")
    shifted = logits - logits.max(axis=-1, keepdims=True)
    logs = shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
    loss = -np.take_along_axis(logs, targets[..., None], -1)[..., 0][counts].mean()
    gradient = np.exp(logs)
    gradient -= np.eye(logits.shape[-1], dtype=logits.dtype)[targets]
    return float(loss), (gradient * counts[..., None] / counts.sum()).astype(logits.dtype)
""",
        "ids as float": """
def cross_entropy(logits, targets, pad_id=0):
    targets = targets.astype(float)
    shifted = logits - logits.max(axis=-1, keepdims=True)
    logs = shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
    return float(-logs[targets].mean()), np.exp(logs)
""",
        "takes with int64, in a flat array": """
def cross_entropy(logits, targets, pad_id=0):
    counts = targets != pad_id
    if not counts.any():
        raise ValueError("padding alone")
    shifted = logits - logits.max(axis=-1, keepdims=True)
    logs = shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
    size = logits.shape[-1]
    flat = np.arange(targets.size) * size + targets.ravel()
    loss = -(logs.ravel().take(flat) * counts.ravel()).sum() / counts.sum()
    gradient = np.exp(logs).reshape(-1, size)
    gradient[np.arange(targets.size), targets.ravel()] -= 1
    gradient *= counts.reshape(-1, 1)
    return float(loss), (gradient / counts.sum()).reshape(logits.shape).astype(logits.dtype)
""",
        "a number of NumPy's, padding counted": """
def cross_entropy(logits, targets, pad_id=0):
    shifted = logits - logits.max(axis=-1, keepdims=True)
    logs = shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
    loss = -np.take_along_axis(logs, targets[..., None], -1).mean()
    return loss, (np.exp(logs) - np.eye(logits.shape[-1])[targets]) / targets.size
""",
    },
    "attention_backward": {
        "keys and queries changed over": """
def attention_backward(query, key, value, weights, gradient):
    scale = query.shape[-1] ** -0.5
    w = gradient @ value.swapaxes(-1, -2)
    s = weights * (w - (weights * w).sum(-1, keepdims=True)) * scale
    return s.swapaxes(-1, -2) @ query, s @ key, weights.swapaxes(-1, -2) @ gradient
""",
        "with einsum": """
def attention_backward(query, key, value, weights, gradient):
    w = np.einsum("...qv,...kv->...qk", gradient, value)
    s = weights * (w - np.einsum("...qk,...qk->...q", weights, w)[..., None]) * query.shape[-1] ** -0.5
    dq, dk = np.einsum("...qk,...kd->...qd", s, key), np.einsum("...qk,...qd->...kd", s, query)
    return dq, dk, np.einsum("...qk,...qv->...kv", weights, gradient)
""",
    },
    "SGD": {
        "new arrays": """
class SGD:
    def __init__(self, parameters, learning_rate):
        self.parameters, self.learning_rate = list(parameters), learning_rate
    def step(self, gradients):
        self.parameters = [p - self.learning_rate * g for p, g in zip(self.parameters, gradients)]
""",
        "a generator that is used up": """
class SGD:
    def __init__(self, parameters, learning_rate):
        self.parameters, self.learning_rate = (p for p in parameters), learning_rate
    def step(self, gradients):
        for p, g in zip(self.parameters, gradients):
            p -= self.learning_rate * g
""",
    },
    "ReLU": {
        "in place": """
class ReLU:
    def forward(self, x):
        x[x < 0] = 0
        self.x = x
        return x
    def backward(self, gradient):
        return gradient * (self.x > 0)
""",
        "a mask of int64": """
class ReLU:
    def forward(self, x):
        self.mask = (x > 0).astype(np.int64)
        return x * self.mask
    def backward(self, gradient):
        return gradient * self.mask
""",
    },
    "Embedding": {
        "adds once for each id": """
class Embedding:
    def __init__(self, vocab_size, d_model):
        self.weight = np.random.standard_normal((vocab_size, d_model)) * 0.1
    def forward(self, tokens):
        self.tokens = tokens
        return self.weight[tokens]
    def backward(self, gradient):
        self.weight_grad = np.zeros_like(self.weight)
        self.weight_grad[self.tokens] += gradient
""",
        "counts with bincount": """
class Embedding:
    def __init__(self, vocab_size, d_model):
        self.weight = np.random.standard_normal((vocab_size, d_model)) * 0.1
    def forward(self, tokens):
        self.tokens = tokens
        return self.weight.take(tokens, axis=0)
    def backward(self, gradient):
        flat, rows = self.tokens.ravel(), gradient.reshape(-1, gradient.shape[-1])
        columns = [np.bincount(flat, weights=column, minlength=len(self.weight)) for column in rows.T]
        self.weight_grad = np.stack(columns, axis=1).astype(self.weight.dtype)
""",
    },
    "LayerNorm": {
        "the variance with n - 1": """
class LayerNorm:
    def __init__(self, d_model, eps=1e-5):
        self.weight, self.bias, self.eps = np.ones(d_model), np.zeros(d_model), eps
    def forward(self, x):
        self.root = np.sqrt(x.var(-1, keepdims=True, ddof=1) + self.eps)
        self.n = (x - x.mean(-1, keepdims=True)) / self.root
        return self.n * self.weight + self.bias
    def backward(self, gradient):
        rows = tuple(range(gradient.ndim - 1))
        self.weight_grad, self.bias_grad = (gradient * self.n).sum(rows), gradient.sum(rows)
        g = gradient * self.weight
        return (g - g.mean(-1, keepdims=True) - self.n * (g * self.n).mean(-1, keepdims=True)) / self.root
""",
    },
    "mlp_predict_numpy": {
        "in place": """
def mlp_predict_numpy(params, inputs):
    x = inputs
    for W, b in params[:-1]:
        x = x @ W
        x += b
        np.maximum(x, 0, out=x)
    W, b = params[-1]
    b += x @ W
    return b
""",
        "a matrix": """
def mlp_predict_numpy(params, inputs):
    x = np.matrix(inputs)
    for W, b in params[:-1]:
        x = np.maximum(x * W + b, 0)
    return x * params[-1][0] + params[-1][1]
""",
        "in float32": """
def mlp_predict_numpy(params, inputs):
    x = inputs.astype(np.float32)
    for W, b in params[:-1]:
        x = (x @ W.astype(np.float32) + b.astype(np.float32)).clip(0)
    return x @ params[-1][0].astype(np.float32) + params[-1][1].astype(np.float32)
""",
    },
    "mse_loss_numpy": {
        "rounded to whole numbers": """
def mse_loss_numpy(params, batch):
    inputs, targets = batch
    return float(np.mean((mlp_predict_numpy(params, inputs) - targets).astype(int) ** 2))
""",
        "a mean of means by a generator": """
def mse_loss_numpy(params, batch):
    inputs, targets = batch
    errors = mlp_predict_numpy(params, inputs) - targets
    return sum(float((row ** 2).mean()) for row in errors) / len(errors)
""",
    },
    "linear_gradients": {
        "one sum for all": """
def linear_gradients(W, b, batch):
    inputs, targets = batch
    errors = inputs @ W + b - targets
    return 2 * inputs.T @ errors / errors.size, 2 * errors.sum() / errors.size
""",
        "takes the targets off in place": """
def linear_gradients(W, b, batch):
    inputs, targets = batch
    targets -= inputs @ W + b
    return -2 * inputs.T @ targets / targets.size, -2 * targets.sum(0) / targets.size
""",
    },
    "byte_pair_ids": {
        "signed bytes": """
def byte_pair_ids(text, merges, vocabulary):
    ids = []
    for token in apply_merges(text, merges):
        if token in vocabulary:
            ids.append(vocabulary[token])
        else:
            ids += [int(byte) + 1 for byte in np.frombuffer(token.encode(), np.int8)]
    return ids
""",
        "an array": """
def byte_pair_ids(text, merges, vocabulary):
    ids = []
    for token in apply_merges(text, merges):
        ids += [vocabulary[token]] if token in vocabulary else [byte + 1 for byte in token.encode()]
    return np.array(ids)
""",
    },
    "build_vocabulary": {
        "by code, not by count": """
def build_vocabulary(corpus):
    return {symbol: np.int64(place) for place, symbol in enumerate(sorted(set("".join(corpus))), start=1)}
""",
    },
}
