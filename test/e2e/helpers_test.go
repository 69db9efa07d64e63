package e2e

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/yaml"
)

const patience = 90 * time.Second

// process is a running kubectl-batchjob.
type process struct {
	cmd    *exec.Cmd
	stderr lockedBuffer
	done   chan struct{}
}

// lockedBuffer can be read while it is written.
type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// startController runs the controller until the test ends, and returns when it
// has said that it reconciles.
func startController(t *testing.T, args ...string) *process {
	t.Helper()
	p := &process{done: make(chan struct{})}
	p.cmd = exec.Command(binary, append([]string{"controller", "--kubeconfig", kubeconfig}, args...)...)
	p.cmd.Stderr = &p.stderr
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = p.cmd.Wait() // The tests read the exit code.
		close(p.done)
	}()
	t.Cleanup(func() { _ = p.cmd.Process.Kill() })
	eventually(t, "the controller to start", func(context.Context) (bool, error) {
		return strings.Contains(p.stderr.String(), "Reconciling Jobs"), nil
	})
	return p
}

// stop asks the controller to end and returns its exit code.
func (p *process) stop(t *testing.T) int {
	t.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	select {
	case <-p.done:
	case <-time.After(patience):
		t.Fatal("the controller does not end")
	}
	return p.cmd.ProcessState.ExitCode()
}

// kill ends the controller as a crash would.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	<-p.done
}

type result struct {
	code           int
	stdout, stderr string
}

// kubectlBatchjob runs the binary to its end.
func kubectlBatchjob(t *testing.T, args ...string) result {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd := exec.Command(binary, args...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return result{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

// namespace makes one for the test, with the account that pods need.
func namespace(t *testing.T) string {
	t.Helper()
	ns, err := client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "e2e-"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the default service account", func(ctx context.Context) (bool, error) {
		_, err := client.CoreV1().ServiceAccounts(ns.Name).Get(ctx, "default", metav1.GetOptions{})
		return err == nil, nil
	})
	return ns.Name
}

func eventually(t *testing.T, what string, condition wait.ConditionWithContextFunc) {
	t.Helper()
	if err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, patience, true, condition); err != nil {
		t.Fatalf("waiting for %s: %v", what, err)
	}
}

// apply creates the Job of an example file, changed if need be.
func apply(t *testing.T, ns, file string, changes ...func(*batchv1.Job)) *batchv1.Job {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "examples", file))
	if err != nil {
		t.Fatal(err)
	}
	job := &batchv1.Job{}
	if err := yaml.UnmarshalStrict(data, job); err != nil {
		t.Fatal(err)
	}
	for _, change := range changes {
		change(job)
	}
	job, err = client.BatchV1().Jobs(ns).Create(t.Context(), job, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return job
}

// finished waits for the terminal condition and returns the Job and its reason.
func finished(t *testing.T, ns, name string) (*batchv1.Job, string) {
	t.Helper()
	var job *batchv1.Job
	reason := ""
	eventually(t, "the end of "+name, func(ctx context.Context) (done bool, err error) {
		if job, err = client.BatchV1().Jobs(ns).Get(ctx, name, metav1.GetOptions{}); err != nil {
			return false, err
		}
		for _, c := range job.Status.Conditions {
			if (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed) && c.Status == corev1.ConditionTrue {
				reason = string(c.Type) + "/" + c.Reason
			}
		}
		return reason != "", nil
	})
	return job, reason
}

func pods(t *testing.T, ns, job string) []corev1.Pod {
	t.Helper()
	list, err := client.CoreV1().Pods(ns).List(t.Context(), metav1.ListOptions{LabelSelector: batchv1.JobNameLabel + "=" + job})
	if err != nil {
		t.Fatal(err)
	}
	return list.Items
}

// noFinalizers fails if a pod still holds the tracking finalizer.
func noFinalizers(t *testing.T, ns, job string) {
	t.Helper()
	for _, pod := range pods(t, ns, job) {
		if strings.Contains(strings.Join(pod.Finalizers, " "), batchv1.JobTrackingFinalizer) {
			t.Errorf("pod %s holds its finalizer", pod.Name)
		}
	}
}
