"""lstm: Hochreiter & Schmidhuber 1997, computed step by step, for each example up to its length."""
import torch

CASES = ["", "layers=1", "directions=2", "layers=1 directions=2 forget-bias=1", "forget-bias=1 hidden=7 width=5",
         "layers=3 directions=2 hidden=3"]


def run(P, x, name):
    """The hidden states for x (n,D), the tokens of one example in the order of the recurrence."""
    H = P[name + "u"].shape[0]
    h, s = x.new_zeros(H), x.new_zeros(H)
    states = []
    for row in x:
        gates = row @ P[name + "w"] + P[name + "b"] + h @ P[name + "u"] + P[name + "c"]
        i, f, g, o = gates.split(H)
        s = f.sigmoid() * s + i.sigmoid() * g.tanh()
        h = o.sigmoid() * s.tanh()
        states.append(h)
    return torch.stack(states)


def encode(P, x, length, config, T_max):
    H, both = int(config["hidden"]), config["directions"] == "2"
    forget = float(config["forget-bias"])
    out = []
    for example, n in zip(x, length.tolist()):
        h = example[:n]
        for i in range(int(config["layers"])):
            name = f"encoder/layer{i}/"
            assert P[name + "past/w"].shape == (h.shape[1], 4 * H)
            start = (P.start[name + "past/b"] + P.start[name + "past/c"])[H:2 * H]
            assert torch.allclose(start.double(), start.double() * 0 + forget, atol=1e-2)
            past = run(P, h, name + "past/")
            h = torch.cat([past, run(P, h.flip(0), name + "future/").flip(0)], 1) if both else past
        out.append(torch.nn.functional.pad(h, (0, 0, 0, x.shape[1] - n)))
    return torch.stack(out)
