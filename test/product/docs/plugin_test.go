//go:build linux

package docs

import (
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/leash"
	"github.com/batchjob-dev/kubectl-batchjob/test/product/docs/page"
)

// firstJob is the section of docs/install.md with a Job that fails under any controller.
const firstJob = "A first Job"

// tryVerbs has a command for each verb in README's table, except for the controller, on that Job.
var tryVerbs = []struct {
	verb, command string
	code          int
}{
	{"watch", "kubectl batchjob watch fine-tune --plain --exit-status", 3},
	{"status", "kubectl batchjob status fine-tune", 0},
	{"why", "kubectl batchjob why fine-tune --full && kubectl batchjob why && kubectl batchjob why -A -o json >/dev/null", 0},
	{"what-if", "kubectl batchjob what-if fine-tune --set backoffLimit=3", 0},
	{"retry", "kubectl batchjob retry fine-tune --wait", 3},
	{"clean", "kubectl batchjob clean --keep 1", 0},
	{"wait", "kubectl batchjob wait fine-tune --timeout 30s", 3},
	{"logs", "kubectl batchjob logs fine-tune --failed", 1}, // Simulated nodes have no logs.
	{"run", "kubectl batchjob run --timeout 60s -f fine-tune-2.yaml", 3},
	{"bundle", "kubectl batchjob bundle fine-tune -f fine-tune.zip && kubectl batchjob why --from fine-tune.zip", 0},
	{"demo", "kubectl batchjob demo", 0},
	{"create", "kubectl batchjob create -f fine-tune.yaml --dry-run=client -o yaml", 0},
	{"lint", "kubectl batchjob lint -f fine-tune.yaml", 0},
	{"simulate", "kubectl batchjob simulate -f fine-tune.yaml --pods index=2,exit=42", 0},
	{"version", "kubectl batchjob version", 0},
	{"completion", "kubectl batchjob completion bash >/dev/null", 0},
}

// Requirements: CLI-46. A reader who has only installed the plugin has a cluster with the built-in controller only.
func TestPluginNeedsNothingInTheCluster(t *testing.T) {
	t.Parallel()
	p := read(t, "docs/install.md")
	p.Blocks = slices.DeleteFunc(p.Blocks, func(b page.Block) bool { return b.Section != firstJob })
	if len(p.Blocks) < 4 {
		t.Fatalf("%q has %d blocks", firstJob, len(p.Blocks))
	}
	v := newVisit(t, withoutController(t), p)
	v.limit = 45 * time.Second // A Job without a controller never ends.
	v.runAnd(verbBlocks(t, read(t, "README.md")))
}

// withoutController starts a separate cluster without our controller.
func withoutController(t *testing.T) *cluster {
	t.Helper()
	hold, err := leash.NewCluster(shared.root, "docs-plugin")
	assert.NoError(t, err)
	t.Cleanup(func() {
		if err := hold.Release(); err != nil {
			t.Error(err)
		}
	})
	assert.NoError(t, hold.Up(t.Context()))
	return &cluster{root: shared.root, dir: hold.Dir, binaries: shared.binaries, binary: shared.binary, archives: shared.archives}
}

// verbRow matches the beginning of a row in the table of verbs.
var verbRow = regexp.MustCompile("(?m)^\\| ((?:`[a-z-]+[^`]*`(?:, )?)+) \\|")

// verbBlocks returns blocks that try each verb of the table. A verb in the table that is not in tryVerbs is an error.
func verbBlocks(t *testing.T, p *page.Page) []page.Block {
	t.Helper()
	blocks := []page.Block{{Page: "fine-tune-2.yaml", Lang: "sh", Text: "sed 's/name: fine-tune$/name: fine-tune-2/' fine-tune.yaml >fine-tune-2.yaml\n"}}
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
	assert.Equalf(t, len(listed), len(tryVerbs)+1, "README's table has the verbs %q, this test %d of them", listed, len(tryVerbs))
	return blocks
}
