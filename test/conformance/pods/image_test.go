package pods

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	corev1 "k8s.io/api/core/v1"
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

// SIGTERM ends it with 143, later.
func TestContainerEndsAfterSIGTERM_CNF_08(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	// A sleep that takes no time, and a mark that the script has set its trap.
	write(t, filepath.Join(dir, "sleep"), "#!/bin/sh\ntouch "+filepath.Join(dir, "started")+"\n")
	if err := os.Chmod(filepath.Join(dir, "sleep"), 0o700); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sh", "-c", Script, "sh", filepath.Join(dir, "exit-code"))
	cmd.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"))
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "started")); err == nil {
			break
		}
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // The exit code says it.
	if code := cmd.ProcessState.ExitCode(); code != 143 {
		t.Errorf("exit code %d", code)
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
	NewImage(nil, "busybox:1.36").Prepare(&template)
	c, volume := template.Spec.Containers[0], template.Spec.Volumes[0]
	item := volume.DownwardAPI.Items[0]
	if c.Image != "busybox:1.36" || c.VolumeMounts[0].Name != volume.Name || c.VolumeMounts[0].MountPath+"/"+item.Path != c.Command[4] {
		t.Errorf("%+v, %+v", c, volume)
	}
	if item.FieldRef.FieldPath != "metadata.annotations['"+ExitCode+"']" {
		t.Errorf("field path %s", item.FieldRef.FieldPath)
	}
}
