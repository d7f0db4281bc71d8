"""A torch model says what torch says, its gradient is that of what it says, and it is left as it was."""

import sys
import threading

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skfairtest import IndividualFairnessTest
from skfairtest.individual.autograd import module_of, network
from skfairtest.individual.features import read_features
from skfairtest.individual.model import kind_of

pytestmark = pytest.mark.torch

rng = np.random.default_rng(0)
X = rng.normal(size=(120, 3))
FEATURES = read_features(X)
FRESH = rng.normal(size=(25, 3))


class Smooth:
    """A network whose outputs are weighted as a function of them says."""

    def __init__(self, found):
        self.found, self.outputs, self.n_classes = found, found.outputs, found.n_classes

    def gradient(self, x, slope):
        def weighted(truth, outputs, torch):
            return (outputs * self.found.tensor(slope(outputs.detach().double().numpy()))).sum(1)

        found = self.found.gradient(weighted, np.zeros(len(x)), None)
        return found(self.found.tensor(x), slice(None)).double().numpy()


def autograd(model, features, kind=None):
    """Take a module apart, as a test does."""
    module = module_of(model)
    return None if module is None else Smooth(network(module, features.values, kind or kind_of(model, "auto")))


def test_a_model_without_torch_is_not_for_torch_and_torch_is_not_imported(monkeypatch):
    for name in ("torch", "skorch"):  # an import of it fails
        monkeypatch.setitem(sys.modules, name, None)
    X = np.eye(4)
    assert autograd(LogisticRegression().fit(X, [0, 1, 0, 1]), read_features(X)) is None
    assert autograd(object(), read_features(X)) is None
    assert not any(module_of(model) for model in (LogisticRegression(), object(), None))


@pytest.fixture
def torch():
    found = pytest.importorskip("torch")
    found.manual_seed(0)
    return found


@pytest.fixture
def skorch(torch):
    return pytest.importorskip("skorch")


def layers(torch, n_outputs, *last, double=True):
    nn = torch.nn
    network = nn.Sequential(nn.Linear(3, 6), nn.Tanh(), nn.Dropout(0.5), nn.Linear(6, n_outputs), *last)
    return network.double() if double else network


def differences(function, x, width=1e-6):
    """Central differences of one number per row."""
    steps = width * np.eye(x.shape[1])
    return np.stack([(function(x + step) - function(x - step)) / (2 * width) for step in steps], axis=1)


def assert_is_the_gradient(smooth, x, atol=1e-6, width=1e-6):
    """For a function that weighs every output differently, and not linearly."""
    weights = np.arange(1, smooth.outputs(x).shape[1] + 1) / 3.0
    expected = differences(lambda z: (weights * np.sin(smooth.outputs(z))).sum(axis=1), x, width)
    np.testing.assert_allclose(smooth.gradient(x, lambda outputs: weights * np.cos(outputs)), expected, atol=atol)


def asked(torch, module, x, dtype=None):
    module.eval()
    with torch.no_grad():
        return module(torch.tensor(x, dtype=dtype or torch.float64)).numpy().astype(float)


def test_a_module_with_a_logit_for_every_class(torch):
    module = layers(torch, 3)
    smooth = autograd(module, FEATURES, kind="classifier")
    assert smooth.n_classes == 3
    scores = asked(torch, module, FRESH)
    shares = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(smooth.outputs(FRESH), np.log(shares), atol=1e-13)
    assert_is_the_gradient(smooth, FRESH)


@pytest.mark.parametrize("flat", [True, False])
def test_a_module_with_one_logit(torch, flat):
    module = layers(torch, 1, *[torch.nn.Flatten(0)] * flat)
    smooth = autograd(module, FEATURES, kind="classifier")
    assert smooth.n_classes == 2
    positive = 1 / (1 + np.exp(-asked(torch, module, FRESH).reshape(-1)))
    np.testing.assert_allclose(np.exp(smooth.outputs(FRESH)), np.column_stack([1 - positive, positive]), atol=1e-13)
    assert_is_the_gradient(smooth, FRESH)


@pytest.mark.parametrize("last", ["Softmax", "LogSoftmax"])
def test_a_module_with_probabilities_or_their_logarithms_is_the_one_with_logits(torch, last):
    logits = layers(torch, 4)
    smooth = autograd(torch.nn.Sequential(*logits, getattr(torch.nn, last)(dim=1)), FEATURES)
    same = autograd(logits, FEATURES)
    np.testing.assert_allclose(smooth.outputs(FRESH), same.outputs(FRESH), atol=1e-12)
    assert_is_the_gradient(smooth, FRESH)
    for slope in (np.cos, np.ones_like):
        np.testing.assert_allclose(smooth.gradient(FRESH, slope), same.gradient(FRESH, slope), atol=1e-12)


def test_a_regressor_says_what_it_says(torch):
    module = layers(torch, 1)
    smooth = autograd(module, FEATURES, kind="regressor")
    assert smooth.n_classes == 0
    np.testing.assert_allclose(smooth.outputs(FRESH), asked(torch, module, FRESH), rtol=1e-13)
    assert_is_the_gradient(smooth, FRESH)


@pytest.mark.parametrize("last", [None, "Softmax", "LogSoftmax"])
def test_what_is_nearly_certain_is_known_exactly(torch, last):
    module = torch.nn.Sequential(torch.nn.Linear(3, 2, bias=False), *([getattr(torch.nn, last)(dim=1)] if last else []))
    module.double()[0].weight.data = torch.tensor([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]], dtype=torch.float64)
    smooth = autograd(module, FEATURES)
    sure = np.array([[70.0, 0.0, 0.0]])
    # log(1 / (1 + exp(-70))) and its derivative; the other class's is -70 less that.
    np.testing.assert_allclose(smooth.outputs(sure), [[-70.0, -np.exp(-70.0)]], rtol=1e-12)
    slope = smooth.gradient(sure, lambda outputs: np.array([[0.0, 1.0]]))
    np.testing.assert_allclose(slope, [[np.exp(-70.0), 0.0, 0.0]], rtol=1e-12, atol=0)


def test_a_module_is_left_in_its_mode_part_by_part_with_its_gradients(torch):
    module = torch.nn.Sequential(layers(torch, 2), torch.nn.BatchNorm1d(2).double())
    module.train()
    module[1].eval()  # as users freeze the statistics of one part
    module[0][0].weight.requires_grad_(False)
    kept = torch.ones_like(module[0][3].weight)
    module[0][3].weight.grad = kept
    modes = [part.training for part in module.modules()]
    state = {name: value.clone() for name, value in module.state_dict().items()}
    smooth = autograd(module, FEATURES)
    first = smooth.gradient(FRESH, np.cos)
    np.testing.assert_array_equal(first, smooth.gradient(FRESH, np.cos))  # no dropout
    assert [part.training for part in module.modules()] == modes
    assert [p.requires_grad for p in module.parameters()] == [False, *[True] * 5]
    assert module[0][3].weight.grad is kept
    assert (kept == 1).all()
    assert all((state[name] == value).all() for name, value in module.state_dict().items())


def test_gradients_are_there_where_the_caller_has_switched_them_off(torch):
    smooth = autograd(layers(torch, 2), FEATURES)
    expected = smooth.gradient(FRESH, np.cos)
    with torch.no_grad():
        np.testing.assert_array_equal(smooth.gradient(FRESH, np.cos), expected)
    with torch.inference_mode():
        np.testing.assert_array_equal(smooth.gradient(FRESH, np.cos), expected)


def test_nobody_depends_on_who_else_is_asked_about(torch):
    module = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4), torch.nn.Linear(4, 2)).double()
    module(torch.tensor(X))  # statistics to normalise with
    smooth = autograd(module, FEATURES)
    together = smooth.gradient(FRESH, np.cos)
    apart = np.concatenate([smooth.gradient(FRESH[i : i + 1], np.cos) for i in range(len(FRESH))])
    np.testing.assert_allclose(together, apart, atol=1e-14)
    np.testing.assert_allclose(smooth.gradient(FRESH[::-1], np.cos)[::-1], together, atol=1e-14)


def test_threads_do_not_see_each_others_mode(torch):
    module = layers(torch, 2)
    smooth = autograd(module, FEATURES)
    expected, found = smooth.gradient(FRESH, np.cos), []
    ask = [threading.Thread(target=lambda: found.append(smooth.gradient(FRESH, np.cos))) for _ in range(20)]
    for thread in ask:
        thread.start()
    for thread in ask:
        thread.join()
    assert len(found) == 20
    assert all((gradient == expected).all() for gradient in found)
    assert module.training


def test_single_precision_is_the_modules_own(torch):
    module = layers(torch, 2, double=False)
    smooth = autograd(module, FEATURES)
    outputs, gradient = smooth.outputs(FRESH), smooth.gradient(FRESH, np.cos)
    assert outputs.dtype == gradient.dtype == np.float64
    exact = autograd(module.double(), FEATURES)
    np.testing.assert_allclose(outputs, exact.outputs(FRESH), atol=1e-6)
    np.testing.assert_allclose(gradient, exact.gradient(FRESH, np.cos), atol=1e-6)


def test_half_precision_and_modules_without_parameters(torch):
    class Fixed(torch.nn.Module):
        def forward(self, x):
            return torch.stack([x[:, 0] * 2, x[:, 1] ** 2], dim=1)

    assert_is_the_gradient(autograd(Fixed(), FEATURES), FRESH, atol=1e-3, width=1e-2)  # asked in single precision
    rough = autograd(layers(torch, 2).bfloat16(), FEATURES)
    assert np.isfinite(rough.gradient(FRESH, np.cos)).all()


class TestWhatCannotBeSeen:
    def test_one_output_between_0_and_1(self, torch):
        with pytest.raises(ValueError, match=r"Sequential\(\).*may be probabilities or logits.*torch.cat"):
            autograd(layers(torch, 1, torch.nn.Sigmoid()), FEATURES, kind="classifier")

    def test_several_outputs_between_0_and_1_that_do_not_add_up(self, torch):
        with pytest.raises(ValueError, match="do not add up to 1"):
            autograd(layers(torch, 3, torch.nn.Sigmoid()), FEATURES, kind="classifier")

    def test_outputs_that_are_not_one_tensor_of_people(self, torch):
        class Pair(torch.nn.Module):
            def forward(self, x):
                return x, x

        with pytest.raises(ValueError, match="it returned tuple"):
            autograd(Pair(), FEATURES)
        with pytest.raises(ValueError, match=r"it returned Tensor of shape \(360,\) for 120"):
            autograd(torch.nn.Flatten(0), FEATURES)

    def test_outputs_that_depend_on_other_people(self, torch):
        class Crowd(torch.nn.Module):
            def forward(self, x):
                return x - x.mean(dim=0)

        with pytest.raises(ValueError, match=r"Crowd\(\).* other outputs when it is called again on fewer"):
            IndividualFairnessTest(Crowd(), fair_metric=np.eye(3)).fit(X, np.arange(120) % 3)

    def test_outputs_that_are_not_finite(self, torch):
        class Logarithm(torch.nn.Module):
            def forward(self, x):
                return x.log()

        with pytest.raises(ValueError, match="its outputs for them are nan or infinite"):
            IndividualFairnessTest(Logarithm(), fair_metric=np.eye(3)).fit(X, np.arange(120) % 3)


def trained(net, X=X, y=None):
    y = (X[:, 0] + 0.5 * rng.normal(size=len(X)) > 0).astype(np.int64) if y is None else y
    return net.fit(X.astype(np.float32), y)


def net_options():
    return {"max_epochs": 3, "verbose": 0, "train_split": None, "lr": 0.1, "batch_size": 40}


def assert_says_the_same(smooth, net, x):
    np.testing.assert_allclose(np.exp(smooth.outputs(x)), net.predict_proba(x.astype(np.float32)), atol=1e-6)


@pytest.mark.parametrize(
    ("last", "criterion"),
    [
        (None, "CrossEntropyLoss"),
        ("Softmax", "NLLLoss"),
        ("LogSoftmax", "CrossEntropyLoss"),
    ],
)
def test_skorchs_classifier_with_its_losses(torch, skorch, last, criterion):
    module = layers(torch, 3, *([getattr(torch.nn, last)(dim=1)] if last else []), double=False)
    y = np.digitize(X[:, 0], [-0.5, 0.5])
    net = trained(skorch.NeuralNetClassifier(module, criterion=getattr(torch.nn, criterion), **net_options()), y=y)
    net.module_.train()
    smooth = autograd(net, FEATURES)
    assert net.module_.training
    assert smooth.n_classes == 3
    assert_says_the_same(smooth, net, FRESH)
    logits = torch.nn.Sequential(*list(net.module_)[:4])
    expected = autograd(logits, FEATURES).gradient(FRESH, np.cos)
    np.testing.assert_allclose(smooth.gradient(FRESH, np.cos), expected, atol=1e-5)


@pytest.mark.parametrize("flat", [True, False])
def test_skorchs_binary_classifier(torch, skorch, flat):
    module = layers(torch, 1, *[torch.nn.Flatten(0)] * flat, double=False)
    net = trained(skorch.NeuralNetBinaryClassifier(module, **net_options()), y=(X[:, 0] > 0).astype(np.float32))
    smooth = autograd(net, FEATURES)
    assert smooth.n_classes == 2
    assert_says_the_same(smooth, net, FRESH)
    expected = autograd(net.module_, FEATURES, kind="classifier").gradient(FRESH, np.cos)
    np.testing.assert_allclose(smooth.gradient(FRESH, np.cos), expected, atol=1e-6)


def test_skorchs_regressor(torch, skorch):
    y = X[:, :1].astype(np.float32)
    net = trained(skorch.NeuralNetRegressor(layers(torch, 1, double=False), **net_options()), y=y)
    smooth = autograd(net, FEATURES)
    assert smooth.n_classes == 0
    np.testing.assert_allclose(smooth.outputs(FRESH), net.predict(FRESH.astype(np.float32)), atol=1e-6)
    np.testing.assert_allclose(
        smooth.gradient(FRESH, np.ones_like),
        autograd(net.module_, FEATURES, kind="regressor").gradient(FRESH, np.ones_like),
        atol=1e-6,
    )


def test_skorchs_bare_net_is_what_the_caller_says(torch, skorch):
    net = skorch.NeuralNet(layers(torch, 1, double=False), criterion=torch.nn.MSELoss, **net_options())
    net = trained(net, y=X[:, :1].astype(np.float32))
    assert autograd(net, FEATURES, kind="regressor").n_classes == 0


def test_an_own_nonlinearity_has_no_derivative_here(torch, skorch):
    net = skorch.NeuralNetClassifier(
        layers(torch, 2, double=False),
        criterion=torch.nn.CrossEntropyLoss,
        predict_nonlinearity=lambda scores: torch.softmax(scores / 7, dim=-1),
        **net_options(),
    )
    assert autograd(trained(net), FEATURES) is None


def test_a_net_behind_other_steps_is_a_model_like_others(torch, skorch):
    net = skorch.NeuralNetClassifier(layers(torch, 2), criterion=torch.nn.CrossEntropyLoss, **net_options())
    y = (X[:, 0] > 0).astype(np.int64)
    pipeline = make_pipeline(StandardScaler(), net).fit(X, y)
    assert module_of(pipeline) is None
    test = IndividualFairnessTest(pipeline, fair_metric=np.diag([0.0, 1.0, 1.0]), steps=(3, 0.2)).fit(X, y)
    assert test.solver_report_["gradient"] == "finite_differences"
