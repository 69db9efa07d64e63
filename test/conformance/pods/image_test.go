package pods

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	k8stesting "k8s.io/client-go/testing"
)

// The script ends with the code that appears in the file, which is empty at first.
func TestContainerEndsWithTheCodeInTheFile_CNF_08(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "exit-code")
	write(t, file, "")
	cmd := exec.Command("sh", "-c", Script, "sh", file)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	write(t, file, "42")
	_ = cmd.Wait() // The exit code says it.
	if code := cmd.ProcessState.ExitCode(); code != 42 {
		t.Errorf("exit code %d", code)
	}
}

// SIGTERM does not end it: a case decides when the pod ends.
func TestContainerOutlivesSIGTERM_CNF_08(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	// A sleep that takes no time, and marks that the script runs on.
	write(t, filepath.Join(dir, "sleep"), "#!/bin/sh\ntouch "+filepath.Join(dir, "slept")+"\n")
	if err := os.Chmod(filepath.Join(dir, "sleep"), 0o700); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sh", "-c", Script, "sh", filepath.Join(dir, "exit-code"))
	cmd.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"))
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for _, before := range []bool{true, false} {
		for {
			if _, err := os.Stat(filepath.Join(dir, "slept")); err == nil {
				break
			}
		}
		if before { // The trap is set.
			if err := errors.Join(cmd.Process.Signal(syscall.SIGTERM), os.Remove(filepath.Join(dir, "slept"))); err != nil {
				t.Fatal(err)
			}
		}
	}
	write(t, filepath.Join(dir, "exit-code"), "3")
	_ = cmd.Wait() // The exit code says it.
	if code := cmd.ProcessState.ExitCode(); code != 3 {
		t.Errorf("exit code %d", code)
	}
}

// A pod that is being deleted is killed when a case ends it, and at the end of the suite; pods of others are not.
func TestTerminatingPodIsKilled_CNF_08(t *testing.T) {
	t.Parallel()
	now := metav1.Now()
	pod := func(name string, deleted *metav1.Time, volumes ...corev1.Volume) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "x", Name: name, UID: types.UID(name), DeletionTimestamp: deleted}, Spec: corev1.PodSpec{Volumes: volumes}}
	}
	ours := corev1.Volume{Name: volume}
	client := fake.NewClientset(pod("a", &now, ours), pod("b", nil, ours), pod("c", nil, ours), pod("d", nil))
	i := NewImage(client, "x", "busybox:1.36")
	var killed []string
	client.PrependReactor("delete", "pods", func(action k8stesting.Action) (bool, runtime.Object, error) {
		d := action.(k8stesting.DeleteActionImpl)
		if *d.DeleteOptions.GracePeriodSeconds == 1 && string(*d.DeleteOptions.Preconditions.UID) == d.Name {
			killed = append(killed, d.Name)
		}
		return false, nil, nil
	})
	for _, p := range []*corev1.Pod{pod("a", &now), pod("b", nil)} {
		if err := i.End(t.Context(), p, 143); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(killed, []string{"a"}) {
		t.Errorf("killed when a case ends them: %v", killed)
	}
	if err := i.Close(); err != nil || !slices.Equal(killed, []string{"a", "b", "c"}) {
		t.Errorf("killed at the end: %v, %v", killed, err)
	}
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestImageMountsTheExitCode_CNF_08(t *testing.T) {
	t.Parallel()
	template := corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: Container}}}}
	NewImage(nil, "x", "busybox:1.36").Prepare(&template)
	c, mounted := template.Spec.Containers[0], template.Spec.Volumes[0]
	item := mounted.DownwardAPI.Items[0]
	if c.Image != "busybox:1.36" || c.VolumeMounts[0].Name != mounted.Name || c.VolumeMounts[0].MountPath+"/"+item.Path != c.Command[4] {
		t.Errorf("%+v, %+v", c, mounted)
	}
	if item.FieldRef.FieldPath != "metadata.annotations['"+ExitCode+"']" {
		t.Errorf("field path %s", item.FieldRef.FieldPath)
	}
}
