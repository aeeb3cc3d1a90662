"""A recurrent network that finds a 1 followed by a 2 four tokens later: how far away are the tokens that it uses?"""

import torch
from torch import nn

import lra_locality as ll


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.rnn, self.head = nn.Embedding(8, 32), nn.GRU(32, 64, batch_first=True), nn.Linear(64, 2)

    def forward(self, x):
        return self.head(self.rnn(self.embed(x))[0].amax(1))


torch.manual_seed(0)
x = torch.randint(1, 8, (4000, 32))
y = ((x[:, :-4] == 1) & (x[:, 4:] == 2)).any(1).long()
net = Net()
optimizer = torch.optim.Adam(net.parameters(), 3e-3)
for i in torch.randint(3000, (1500, 64)):
    nn.functional.cross_entropy(net(x[i]), y[i]).backward()
    optimizer.step(), optimizer.zero_grad()
rows = ll.rows((x.numpy(), y.numpy()), vocab=8, name="pattern")
m = ll.wrap(net, features="rnn")  # any framework; tokens, series or images
audit = ll.audit(m, rows, parts=["jacobian", "keep"], initial=Net, budget="1 min")
print(audit.checks, *audit.verdict, sep="\n")
print("95 % within", audit.value("jacobian", "dist.q95"), "tokens:", audit.interval("jacobian", "dist.q95"))
