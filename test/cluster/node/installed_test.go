//go:build node

package node

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// Issue 7, point 1: config/default is applied without a warning, and two pods with the built image become ready without
// a restart.
func TestInstalledPodsBecomeReady(t *testing.T) {
	t.Logf("available %.1f s after kubectl apply", installed.took.Seconds())
	assert.NotContains(t, installed.output, "Warning", "kubectl apply warns")
	for _, pod := range twoReady(t) {
		status := pod.Status.ContainerStatuses[0]
		if status.RestartCount != 0 || !status.Ready || pod.Status.QOSClass != corev1.PodQOSBurstable {
			t.Errorf("pod %s: %+v, %s", pod.Name, status, pod.Status.QOSClass)
		}
		if started := status.State.Running.StartedAt; pod.Status.Conditions != nil {
			t.Logf("pod %s was ready %s after its container started", pod.Name, readySince(&pod).Sub(started.Time))
		}
		wantJSONLog(t, pod.Name)
	}
}

func readySince(pod *corev1.Pod) time.Time {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.LastTransitionTime.Time
		}
	}
	return time.Time{}
}

// wantJSONLog checks that each log line is a JSON object, and that none is a warning.
func wantJSONLog(t *testing.T, pod string) {
	t.Helper()
	log := kubectl(t, system, "logs", pod).Out
	for line := range strings.Lines(log) {
		var entry map[string]any
		if err := json.Unmarshal([]byte(line), &entry); err != nil || strings.Contains(strings.ToLower(line), "warning") || entry["err"] != nil {
			t.Errorf("pod %s logs %q", pod, line)
		}
	}
	if log == "" {
		t.Errorf("pod %s logs nothing", pod)
	}
}

// Issue 7, point 3: the manifests that the plugin prints are the installed ones.
func TestPrintedManifestsAreInstalled(t *testing.T) {
	printed := kubectl(t, "", "batchjob", "controller", "--print-manifests")
	if printed.Code != 0 {
		t.Fatalf("%+v", printed)
	}
	if r := kubectlWith(t, printed.Out, "", "diff", "-f", "-"); r.Code != 0 {
		t.Errorf("exit code %d\n%s%s", r.Code, r.Out, r.ErrOut)
	}
}

// Issue 7, point 1: the kernel applies the securityContext of the Deployment to the process.
func TestProcessIsConfined(t *testing.T) {
	twoReady(t)
	processes := processesOf(t)
	if len(processes) != 2 {
		t.Fatalf("%d processes of the controller run, want 2", len(processes))
	}
	for _, dir := range processes {
		status := strings.Join(strings.Fields(file(t, filepath.Join(dir, "status"))), " ")
		wantParts(t, dir, status, []string{
			"Uid: 65532 65532 65532 65532", "Gid: 65532 65532 65532 65532", "NoNewPrivs: 1", "Seccomp: 2",
			"CapPrm: 0000000000000000 CapEff: 0000000000000000 CapBnd: 0000000000000000",
		})
		assert.Contains(t, file(t, filepath.Join(dir, "environ")), "GOMEMLIMIT=460MiB\x00", "its environment")
		for line := range strings.Lines(file(t, filepath.Join(dir, "mountinfo"))) {
			if f := strings.Fields(line); f[4] == "/" && !strings.HasPrefix(f[5], "ro,") {
				t.Errorf("its root can be written to: %s", line)
			}
		}
	}
}

// processesOf returns the folders in /proc of the controller's processes.
func processesOf(t *testing.T) (dirs []string) {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	assert.NoError(t, err)
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err == nil && bytes.HasPrefix(data, []byte("/kubectl-batchjob\x00controller\x00")) {
			dirs = append(dirs, filepath.Dir(name))
		}
	}
	return dirs
}

// Issue 7, point 1: each pod answers probes at the Deployment's addresses, and the kubelet probes there.
func TestPodsAnswerProbes(t *testing.T) {
	for _, pod := range twoReady(t) {
		for _, path := range []string{"/healthz", "/readyz"} {
			if code, body := get(t, http.DefaultClient, "http://"+net.JoinHostPort(pod.Status.PodIP, "8081")+path, ""); code != http.StatusOK {
				t.Errorf("%s %s: %d %s", pod.Name, path, code, body)
			}
		}
	}
}

// get makes one request, with a token unless it is empty.
func get(t *testing.T, asking *http.Client, url, token string) (code int, body string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	assert.NoError(t, err)
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := asking.Do(req)
	assert.NoError(t, err)
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	assert.NoError(t, err)
	return resp.StatusCode, string(data)
}
