package tui

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// twoNamespaces has a namespace ml with a Job, and a namespace that may not be read.
type twoNamespaces struct {
	names   []string
	current string
	opened  []string
	sources map[string]*still
}

func (n *twoNamespaces) Current() string { return n.current }

func (n *twoNamespaces) Names(context.Context) []string { return n.names }

func (n *twoNamespaces) Open(namespace string) (snapshot.Source, string, error) {
	if strings.Contains(namespace, "/") {
		return nil, "", errors.New("that is no name")
	}
	n.current, n.opened = namespace, append(n.opened, namespace)
	if n.sources[namespace] == nil {
		n.sources[namespace] = &still{snap: jobsSnapshot(someJobs()[3:]...)}
	}
	return n.sources[namespace], "namespace " + namespace, nil
}

// inNamespaces opens a list of namespace etl in which N works.
func inNamespaces(t *testing.T, names ...string) (*testbed, *twoNamespaces) {
	t.Helper()
	n := &twoNamespaces{names: names, current: "etl", sources: map[string]*still{}}
	b := open(t, jobsSnapshot(someJobs()[:2]...), size{80, 24}, func(o *Options) { o.What, o.Namespaces = "namespace etl", n })
	b.View()
	return b, n
}

// choose presses N, and passes the namespaces to the Model.
func (b *testbed) choose() {
	b.t.Helper()
	b.do(b.press("N"))
	b.View()
}

// N lists the namespaces, with "all" first, and opens the list of the chosen one; later Snapshots of the previous Source are
// not shown.
// Requirements: VIE-10
func TestNChoosesANamespace(t *testing.T) {
	b, n := inNamespaces(t, "default", "etl", "ml")
	b.press("down", "space")
	b.choose()
	shows(b, "Jobs › Namespaces", "  all namespaces", "  default", "▌ etl", "  ml")
	b.press("down", "enter")
	if !slices.Equal(n.opened, []string{"ml"}) {
		t.Fatalf("it opened %q", n.opened)
	}
	hides(b, "import-orders", "paused")
	old := jobsSnapshot(someJobs()[:2]...)
	old.Seq = 99
	b.send(snapshotMsg{of: b.source, snap: old})
	b.send(snapshotMsg{of: b.source, err: context.Canceled})
	hides(b, "import-orders")
	b.send(snapshotMsg{of: n.sources["ml"], snap: n.sources["ml"].snap})
	shows(b, "4 Jobs in namespace ml", "evaluate")

	b.choose()
	b.press("g", "enter")
	assert.Equal(t, n.current, "", "the first row")
	b.choose()
	b.press("/", "d", "e", "f", "enter", "enter")
	assert.Equal(t, n.current, "default", "the filter chose")
}

// If listing namespaces is forbidden, N prompts for a name. If the list of Jobs cannot be read, the previous one is reopened
// with the reason.
// Requirements: VIE-10
func TestNAsksForANamespace(t *testing.T) {
	b, n := inNamespaces(t)
	b.choose()
	shows(b, "namespace (empty for all): ")
	b.press("esc")
	b.choose()
	b.press("a", "/", "b", "enter")
	shows(b, "that is no name", "import-orders")
	if n.opened != nil {
		t.Errorf("it opened %q", n.opened)
	}
	b.choose()
	b.press("m", "l", "enter")
	if n.current != "ml" {
		t.Fatalf("it opened %q", n.opened)
	}
	b.send(snapshotMsg{of: n.sources["ml"], err: errors.New("no permission to list jobs in namespace ml")})
	if n.current != "etl" || b.quit {
		t.Errorf("after an error, the list is of %q", n.current)
	}
	shows(b, "no permission to list jobs in namespace ml")
	b.send(snapshotMsg{of: n.sources["etl"], snap: jobsSnapshot(someJobs()[:2]...)})
	shows(b, "2 Jobs in namespace etl")
}

// Requirements: VIE-10, VIE-07
func TestNIsOnlyAKeyOfTheList(t *testing.T) {
	b := open(t, jobsSnapshot(someJobs()...), size{80, 24}, nil, "N")
	shows(b, "no key N here")
}

// 0 shows the Jobs of all namespaces, and goes back to the namespace that was shown before.
// Requirements: VIE-12
func TestAllNamespacesAndBack(t *testing.T) {
	b, n := inNamespaces(t)
	b.press("0", "0")
	b.choose()
	b.press("m", "l", "enter", "0", "0")
	assert.SlicesEqual(t, n.opened, []string{"", "etl", "ml", "", "ml"}, "it opened")
}

// A list that began with all namespaces has kubectl's namespace to go to, if there is one.
// Requirements: VIE-12
func TestOneNamespaceAfterAll(t *testing.T) {
	b, n := inNamespaces(t)
	n.current = ""
	b.press("0")
	shows(b, "no namespace was shown before; N chooses one")
	b.o.Namespace = "default"
	b.press("0")
	assert.Equalf(t, n.current, "default", "it opened %q", n.opened)
	b = open(t, jobsSnapshot(someJobs()...), size{80, 24}, nil, "0")
	shows(b, "no key 0 here")
}
