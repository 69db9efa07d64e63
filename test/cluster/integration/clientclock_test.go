package integration

import (
	"bytes"
	"context"
	"encoding/json"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/utils/ptr"

	explaincmd "github.com/batchjob-dev/kubectl-batchjob/internal/cli/explain"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/internal/serverclock"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller/leader"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// With a client clock that is 15 minutes ahead, Leases look expired, and new Jobs look as if no controller had worked on
// them.
// Requirements: CLI-11
func TestWrongClockOfTheClientChangesNothing(t *testing.T) {
	t.Parallel()
	const managedBy = "example.com/clock"
	client := newClient(t, apiServer.Config, "user")
	namespace := newNamespace(t, client)
	election := leader.Election{
		Client: newControllerClient(t, apiServer.Config, "clock"), Namespace: namespace, Name: leader.LeaseName(managedBy), Identity: "me",
		LeaseDuration: 10 * time.Minute, RenewDeadline: 5 * time.Minute, RetryPeriod: time.Second,
	}
	ctx, stop := context.WithCancel(t.Context())
	var group wait.Group
	leads := make(chan struct{}, 1)
	group.Start(func() {
		_ = election.Run(ctx, func(ctx context.Context) error {
			leads <- struct{}{}
			<-ctx.Done()
			return nil
		})
	})
	defer group.Wait()
	defer stop()
	<-leads
	job := newJob()
	job.Spec.ManagedBy = ptr.To(managedBy)
	job, err := client.BatchV1().Jobs(namespace).Create(t.Context(), job, metav1.CreateOptions{})
	assert.NoError(t, err)
	for _, begun := range []bool{false, true} {
		if begun {
			job.Status.StartTime, job.Status.Active = ptr.To(metav1.Now()), 1
			if job, err = client.BatchV1().Jobs(namespace).UpdateStatus(t.Context(), job, metav1.UpdateOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		report := explainAhead(t, namespace, 15*time.Minute)
		if report.Verdict.Stalled || report.Reconciler.Sign != explain.SignLeaseHeld {
			t.Errorf("begun %v: %s; %s", begun, report.Verdict.Sentence, report.Reconciler.Text)
		}
	}
}

// explainAhead explains Job a on a machine whose clock is ahead.
func explainAhead(t *testing.T, namespace string, ahead time.Duration) explain.Report {
	t.Helper()
	var out, errOut bytes.Buffer
	streams := genericiooptions.IOStreams{In: &bytes.Buffer{}, Out: &out, ErrOut: &errOut}
	env := cmdutil.NewEnv(streams)
	env.ServerClock = serverclock.New(func() time.Time { return time.Now().Add(ahead) })
	env.Now = env.ServerClock.Now
	args := []string{"why", "a", "-n", namespace, "--kubeconfig", adminKubeconfig(t), "-o", "json"}
	root := cmdutil.NewRoot(env)
	root.AddCommand(explaincmd.NewCommand(env))
	assert.NoError(t, cmdutil.Execute(t.Context(), root, args), errOut.String())
	var report explain.Report
	assert.NoError(t, json.Unmarshal(out.Bytes(), &report))
	return report
}
