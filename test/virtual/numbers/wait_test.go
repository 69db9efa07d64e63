package numbers

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/wait"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/clitest"
)

// waiter runs the verb wait. It is slow, so it is used for a part of the moments only.
type waiter struct {
	api     *clitest.API
	program clitest.Program
}

// waitEvery is n if one in n moments is checked with wait.
const waitEvery = 25

func newWaiter(t *testing.T) *waiter {
	w := &waiter{clitest.NewAPI(t), clitest.ProgramOf(wait.NewCommand)}
	t.Setenv("KUBECONFIG", clitest.WriteKubeconfig(t, w.api.URL()))
	return w
}

// line returns wait's output for a Job that has not ended.
func (w *waiter) line(t testing.TB, job *unstructured.Unstructured, now time.Time) string {
	w.api.Put(job)
	defer w.api.Remove(job)
	env := clitest.NewEnv()
	env.Now = func() time.Time { return now }
	ctx, cancel := context.WithTimeout(context.Background(), clitest.Patience)
	defer cancel()
	var out, errOut bytes.Buffer
	streams := genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &errOut}
	err := w.program.Execute(ctx, []string{"wait", job.GetName(), "-n", job.GetNamespace(), "--timeout=0"}, streams, env)
	if err == nil {
		t.Errorf("wait ends at once: %s", out.String())
		return ""
	}
	return errOut.String() + err.Error()
}
