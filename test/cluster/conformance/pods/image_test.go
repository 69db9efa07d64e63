package pods

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/rest"
	k8stesting "k8s.io/client-go/testing"
	utilexec "k8s.io/client-go/util/exec"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// The script exits with the code that EndScript writes.
// Requirements: CNF-08
func TestContainerEndsWithTheCodeInTheFile(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "exit-code")
	cmd := exec.Command("sh", "-c", Script, "sh", file)
	assert.NoError(t, cmd.Start())
	if out, err := exec.Command("sh", "-c", EndScript, "sh", file, "42").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	_ = cmd.Wait() // The exit code says it.
	assert.Equal(t, cmd.ProcessState.ExitCode(), 42, "exit code")
}

// SIGTERM does not end the container: the case decides when the pod ends.
// Requirements: CNF-08
func TestContainerOutlivesSIGTERM(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	// A sleep that takes no time and leaves a file as a sign that the script is still running.
	write(t, filepath.Join(dir, "sleep"), "#!/bin/sh\ntouch "+filepath.Join(dir, "slept")+"\n")
	assert.NoError(t, os.Chmod(filepath.Join(dir, "sleep"), 0o700))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", Script, "sh", filepath.Join(dir, "exit-code"))
	cmd.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"))
	assert.NoError(t, cmd.Start())
	for _, before := range []bool{true, false} {
		err := wait.PollUntilContextCancel(ctx, time.Millisecond, true, func(context.Context) (bool, error) {
			_, err := os.Stat(filepath.Join(dir, "slept"))
			return err == nil, nil
		})
		assert.NoError(t, err, before)
		if before { // The trap is set.
			assert.NoError(t, errors.Join(cmd.Process.Signal(syscall.SIGTERM), os.Remove(filepath.Join(dir, "slept"))))
		}
	}
	write(t, filepath.Join(dir, "exit-code"), "3")
	_ = cmd.Wait() // The exit code says it.
	assert.Equal(t, cmd.ProcessState.ExitCode(), 3, "exit code")
}

// Close deletes the suite's pods, ends its pods that are already terminating, and leaves other pods alone. Failures are
// retried.
// Requirements: CNF-08
func TestWhatIsLeftIsRemoved(t *testing.T) {
	t.Parallel()
	now := metav1.Now()
	pod := func(name, node string, deleted *metav1.Time, phase corev1.PodPhase, volumes ...corev1.Volume) *corev1.Pod {
		return &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: "x", Name: name, UID: types.UID(name), DeletionTimestamp: deleted},
			Spec:       corev1.PodSpec{NodeName: node, Volumes: volumes}, Status: corev1.PodStatus{Phase: phase},
		}
	}
	ours := corev1.Volume{Name: volume}
	client := fake.NewClientset(pod("terminates", "n", &now, corev1.PodRunning, ours), pod("runs", "n", nil, corev1.PodRunning, ours),
		pod("pending", "n", &now, corev1.PodPending, ours), pod("never-ran", "", &now, corev1.PodPending, ours),
		pod("ended", "n", nil, corev1.PodFailed, ours), pod("others", "n", nil, corev1.PodRunning))
	i := NewImage(nil, client, "x", "busybox:1.36")
	var mu sync.Mutex
	var did []string
	note := func(what string) {
		mu.Lock()
		defer mu.Unlock()
		did = append(did, what)
	}
	busy := true
	i.execute = func(_ context.Context, pod *corev1.Pod, command []string) error {
		note("end " + pod.Name + " " + command[len(command)-1])
		if busy {
			busy = false
			return errors.New("the kubelet is busy")
		}
		return client.Tracker().Delete(corev1.SchemeGroupVersion.WithResource("pods"), pod.Namespace, pod.Name)
	}
	client.PrependReactor("delete", "pods", func(action k8stesting.Action) (bool, runtime.Object, error) {
		d := action.(k8stesting.DeleteActionImpl)
		if *d.DeleteOptions.GracePeriodSeconds == 1 && string(*d.DeleteOptions.Preconditions.UID) == d.Name {
			note("delete " + d.Name)
		}
		return false, nil, nil
	})
	err := i.Close()
	if slices.Sort(did); err != nil || !slices.Equal(did, []string{"delete pending", "delete runs", "end terminates 0", "end terminates 0"}) {
		t.Errorf("%v, %v", did, err)
	}
	if err := i.End(t.Context(), pod("pending", "n", nil, corev1.PodPending), 3); !errors.Is(err, errPending) || len(did) != 4 {
		t.Errorf("a pod that may run later: %v, %v", did, err)
	}
}

func write(t *testing.T, file, text string) {
	t.Helper()
	assert.NoError(t, os.WriteFile(file, []byte(text), 0o600))
}

// A command that ends its container may be killed with it. The case waits for the pod's end anyway.
// Requirements: CNF-08
func TestCommandMayBeKilledWithItsContainer(t *testing.T) {
	t.Parallel()
	for code, want := range map[int]bool{137: true, 1: false} {
		assert.Equal(t, isKilled(fmt.Errorf("command: %w", utilexec.CodeExitError{Code: code, Err: errors.New("it ended")})), want, code)
	}
}

// A pod may be gone before a command runs in it; that is not an error.
// Requirements: CNF-08
func TestCommandInAPodThatIsGone(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusNotFound)
		_ = json.NewEncoder(w).Encode(apierrors.NewNotFound(corev1.Resource("pods"), path.Base(path.Dir(r.URL.Path))).ErrStatus)
	}))
	defer server.Close()
	config := &rest.Config{Host: server.URL}
	client, err := kubernetes.NewForConfig(config)
	assert.NoError(t, err)
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "x", Name: "a"}, Status: corev1.PodStatus{Phase: corev1.PodRunning}}
	if err := NewImage(config, client, "x", "busybox:1.36").End(t.Context(), pod, 0); !apierrors.IsNotFound(err) {
		t.Errorf("%v", err)
	}
}

// Requirements: CNF-08
func TestImageMountsTheExitCode(t *testing.T) {
	t.Parallel()
	template := corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: Container}}}}
	NewImage(nil, nil, "x", "busybox:1.36").Prepare(&template)
	c, mounted := template.Spec.Containers[0], template.Spec.Volumes[0]
	if c.Image != "busybox:1.36" || c.VolumeMounts[0].Name != mounted.Name || c.VolumeMounts[0].MountPath != filepath.Dir(c.Command[4]) {
		t.Errorf("%+v, %+v", c, mounted)
	}
}
