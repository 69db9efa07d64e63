//go:build linux

package docs

import (
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/batchjob-dev/kubectl-batchjob/test/docs/page"
	"github.com/batchjob-dev/kubectl-batchjob/test/leash"
)

// pluginPart is the section of README.md for readers who do not run our controller.
const pluginPart = "The plugin"

// tryVerbs has a command for each verb in that section's table, except for the controller, on the section's Job.
var tryVerbs = []struct {
	verb, command string
	code          int
}{
	{"watch", "kubectl batchjob watch train --plain --exit-status", 3},
	{"status", "kubectl batchjob status train", 0},
	{"why", "kubectl batchjob why train --full && kubectl batchjob why && kubectl batchjob why -A -o json >/dev/null", 0},
	{"what-if", "kubectl batchjob what-if train --set backoffLimit=3", 0},
	{"retry", "kubectl batchjob retry train --wait", 3},
	{"wait", "kubectl batchjob wait train --timeout 30s", 3},
	{"logs", "kubectl batchjob logs train --failed", 1}, // Simulated nodes have no logs.
	{"run", "kubectl batchjob run --timeout 60s -f train-2.yaml", 3},
	{"bundle", "kubectl batchjob bundle train -o train.zip && kubectl batchjob why --from train.zip", 0},
	{"demo", "kubectl batchjob demo", 0},
	{"create", "kubectl batchjob create -f train.yaml --dry-run=client -o yaml", 0},
	{"lint", "kubectl batchjob lint -f train.yaml", 0},
	{"simulate", "kubectl batchjob simulate -f train.yaml --pods index=2,exit=42", 0},
	{"version", "kubectl batchjob version", 0},
	{"completion", "kubectl batchjob completion bash >/dev/null", 0},
}

// Requirements: CLI-46. A reader of README's first part has a cluster with the built-in controller only.
func TestPluginNeedsNothingInTheCluster(t *testing.T) {
	t.Parallel()
	p, err := page.Read(shared.root, "README.md")
	if err != nil {
		t.Fatal(err)
	}
	p.Blocks = slices.DeleteFunc(p.Blocks, func(b page.Block) bool { return b.Section != pluginPart })
	if len(p.Blocks) < 4 {
		t.Fatalf("%q has %d blocks", pluginPart, len(p.Blocks))
	}
	v := newVisit(t, withoutController(t), p)
	v.limit = 45 * time.Second // A Job without a controller never ends.
	v.runAnd(verbBlocks(t, p))
}

// withoutController starts a separate cluster without our controller.
func withoutController(t *testing.T) *cluster {
	t.Helper()
	hold, err := leash.NewCluster(shared.root, "docs-plugin")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := hold.Release(); err != nil {
			t.Error(err)
		}
	})
	if err := hold.Up(t.Context()); err != nil {
		t.Fatal(err)
	}
	return &cluster{root: shared.root, dir: hold.Dir, binaries: shared.binaries, binary: shared.binary, archives: shared.archives}
}

// verbRow matches the beginning of a row in the table of verbs.
var verbRow = regexp.MustCompile("(?m)^\\| ((?:`[a-z-]+[^`]*`(?:, )?)+) \\|")

// verbBlocks returns blocks that try each verb of the table. A verb in the table that is not in tryVerbs is an error.
func verbBlocks(t *testing.T, p *page.Page) []page.Block {
	t.Helper()
	blocks := []page.Block{{Page: "train-2.yaml", Lang: "sh", Text: "sed 's/name: train$/name: train-2/' train.yaml >train-2.yaml\n"}}
	var listed []string
	for _, row := range verbRow.FindAllStringSubmatch(p.Prose, -1) {
		for _, verb := range regexp.MustCompile("`([a-z-]+)").FindAllStringSubmatch(row[1], -1) {
			listed = append(listed, verb[1])
		}
	}
	for _, verb := range listed {
		at := slices.IndexFunc(tryVerbs, func(v struct {
			verb, command string
			code          int
		}) bool {
			return v.verb == verb
		})
		switch {
		case verb == "controller":
		case at < 0:
			t.Errorf("README has verb %q, and this test has no command for it", verb)
		default:
			v := tryVerbs[at]
			blocks = append(blocks, page.Block{Page: "verb " + verb, Lang: "sh", Text: v.command + "\n", Run: page.Run{Code: v.code}})
		}
	}
	if len(listed) != len(tryVerbs)+1 {
		t.Errorf("README's table has the verbs %q, this test %d of them", listed, len(tryVerbs))
	}
	return blocks
}
