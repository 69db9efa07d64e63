package config

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/yaml"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// resources are what the kustomization of a folder names, and that of each folder that it names.
func resources(t *testing.T, files fs.FS, folder string) (names []string) {
	t.Helper()
	data, err := fs.ReadFile(files, path.Join(folder, "kustomization.yaml"))
	assert.NoError(t, err)
	var k types.Kustomization
	assert.NoError(t, yaml.UnmarshalStrict(data, &k), folder)
	for _, name := range k.Resources {
		name = path.Join(folder, name)
		info, err := fs.Stat(files, name)
		switch {
		case err != nil:
			t.Errorf("%s names %s: %v", folder, name, err)
		case info.IsDir():
			names = append(names, resources(t, files, name)...)
		default:
			names = append(names, name)
		}
	}
	return names
}

// Issue 7, point 3: all files in the folders are printed. A file that no kustomization names is a mistake.
func TestFilesAreEmbeddedAndUsed(t *testing.T) {
	folder := os.DirFS(".")
	used := resources(t, folder, "samples")
	top, err := filepath.Glob("*/kustomization.yaml")
	assert.NoError(t, err)
	for _, name := range top {
		if dir := filepath.Dir(name); dir != "samples" {
			used = append(used, resources(t, Files(), dir)...)
		}
	}
	if len(top) < 5 {
		t.Errorf("only %q were found", top)
	}
	err = fs.WalkDir(folder, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || path.Ext(name) != ".yaml" || path.Base(name) == "kustomization.yaml" {
			return err
		}
		if !slices.Contains(used, name) {
			t.Errorf("no kustomization names %s", name)
		}
		if _, err := fs.Stat(Files(), name); (err == nil) == strings.HasPrefix(name, "samples/") {
			t.Errorf("%s: embedded: %v", name, err == nil)
		}
		return nil
	})
	assert.NoError(t, err)
}

// Issue 7, point 1: the samples are Jobs of this controller, each says what it shows, and restricted namespaces take them.
func TestSamplesAreJobsOfThisController(t *testing.T) {
	names := resources(t, os.DirFS("."), "samples")
	if len(names) < 3 {
		t.Errorf("only %q", names)
	}
	for _, name := range names {
		data, err := os.ReadFile(name)
		assert.NoError(t, err)
		var job batchv1.Job
		if err := yaml.UnmarshalStrict(data, &job); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if job.Spec.ManagedBy == nil || *job.Spec.ManagedBy != controller.DefaultManagedBy || job.Namespace != "" || job.Name+".yaml" != path.Base(name) || !strings.HasPrefix(string(data), "# ") {
			t.Errorf("%s: managedBy %v, %s/%s", name, job.Spec.ManagedBy, job.Namespace, job.Name)
		}
		pod := job.Spec.Template.Spec
		if s := pod.SecurityContext; s == nil || !*s.RunAsNonRoot || *s.RunAsUser == 0 || s.SeccompProfile.Type != corev1.SeccompProfileTypeRuntimeDefault {
			t.Errorf("%s: security context %v", name, s)
		}
		for _, c := range pod.Containers {
			if s := c.SecurityContext; s == nil || *s.AllowPrivilegeEscalation || !slices.Contains(s.Capabilities.Drop, "ALL") {
				t.Errorf("%s: security context of %s: %v", name, c.Name, s)
			}
			if image, tag, _ := strings.Cut(c.Image, ":"); image != "busybox" || tag == "" || tag == "latest" {
				t.Errorf("%s: image %s", name, c.Image)
			}
		}
	}
}
