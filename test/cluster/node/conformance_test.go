//go:build node

package node

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/command"
)

// TestConformanceWithRealContainers runs the conformance suite with an image on this node, against
// the built-in controller and ours. BATCHJOB_CONFORMANCE_REPORTS is a folder for the reports.
// Requirements: CNF-05, CNF-06, CNF-08
func TestConformanceWithRealContainers(t *testing.T) {
	for name, args := range map[string][]string{"built-in": nil, "ours": {"--managed-by", controller.DefaultManagedBy}} {
		t.Run(name, func(t *testing.T) {
			args := append([]string{"--pods", "image", "--image", "busybox:1.37", "-o", "json"}, args...)
			r, err := command.Run(t.Context(), 15*time.Minute, "", filepath.Join(root, "bin", "conformance"), args...)
			assert.NoError(t, err)
			if dir := os.Getenv("BATCHJOB_CONFORMANCE_REPORTS"); dir != "" {
				assert.NoError(t, os.WriteFile(filepath.Join(dir, "node-"+name+".json"), []byte(r.Out), 0o600))
			}
			var report struct {
				Cases []struct {
					Name, Result string
					Problems     []struct{ Expected, Seen string }
				}
			}
			assert.NoError(t, json.Unmarshal([]byte(r.Out), &report), r.ErrOut)
			results := map[string]int{}
			for _, c := range report.Cases {
				if results[c.Result]++; c.Result == "fail" {
					t.Errorf("%s failed: %+v", c.Name, c.Problems)
				}
			}
			t.Logf("%v", results)
			if r.Code != 0 || results["pass"] < 60 {
				t.Errorf("exit code %d, %d cases passed", r.Code, results["pass"])
			}
		})
	}
}
