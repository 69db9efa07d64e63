package testcluster

import (
	"context"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/leash"
)

// Process is a running controller.
type Process struct{ *leash.Controller }

// Launched returns all controllers of this run.
func (c *Cluster) Launched() []*Process {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.launched)
}

// Launch runs a controller with the permissions of an installed one, and returns once it reports that it reconciles. program is the
// binary to test, or another build of it; environment has additional variables.
func (c *Cluster) Launch(ctx context.Context, program string, environment []string, args ...string) (*Process, error) {
	started, err := leash.StartController(ctx, program, c.AccountKubeconfig, environment, args...)
	if err != nil {
		return nil, err
	}
	p := &Process{started}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.launched = append(c.launched, p)
	return p, nil
}

// managedBy returns the managedBy value of the Jobs that a controller runs.
func (p *Process) managedBy() string {
	for i, arg := range p.Args {
		if value, ok := strings.CutPrefix(arg, "--managed-by="); ok {
			return value
		}
		if arg == "--managed-by" && i+1 < len(p.Args) {
			return p.Args[i+1]
		}
	}
	return "batchjob.dev/controller"
}

// URL returns the address from the controller's log for "Health probes" or "Metrics".
func (p *Process) URL(t *testing.T, what string) string {
	t.Helper()
	var url string
	Eventually(t, "the address of "+what, func(context.Context) (bool, error) {
		if found := regexp.MustCompile(what + ` at (https?://\S+)\.\n`).FindStringSubmatch(p.Stderr.String()); found != nil {
			url = found[1]
		}
		return url != "", nil
	})
	return url
}

// Fetch sends a GET without a token; code 0 is no response.
func Fetch(t *testing.T, url string) (code int, body string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	assert.NoError(t, err)
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, err.Error()
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	assert.NoError(t, err)
	return answer.StatusCode, string(text)
}

// Patience is how long a run waits for anything.
const Patience = 90 * time.Second

// Eventually waits for a condition.
func Eventually(t *testing.T, what string, condition wait.ConditionWithContextFunc) {
	t.Helper()
	if err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, Patience, true, condition); err != nil {
		t.Fatalf("waiting for %s: %v", what, err)
	}
}
