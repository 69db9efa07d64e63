package integration

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// managedByFolder holds the policy that assigns new Jobs to our controller.
var managedByFolder = filepath.Join("..", "..", "..", "config", "admission", "managed-by")

const managedLabel = "batchjob.dev/managed"

// applyManagedBy applies a copy of the policy that matches only these namespaces, and waits until it is in force in the
// first one, which must have the label.
func applyManagedBy(t *testing.T, client kubernetes.Interface, namespaces ...string) {
	t.Helper()
	a := &admission{t: t, client: client, namespace: namespaces[0]}
	for _, other := range namespaces[1:] {
		a.others = append(a.others, other)
	}
	a.apply(filepath.Join(managedByFolder, "managed-by.yaml"))
	untilManaged(t, client, namespaces[0])
}

// untilManaged polls, because no watch shows when a policy or a label takes effect.
func untilManaged(t *testing.T, client kubernetes.Interface, namespace string) {
	t.Helper()
	condition := func(ctx context.Context) (bool, error) {
		job, err := client.BatchV1().Jobs(namespace).Create(ctx, named("probe", newJob(managedBy(""))), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return err == nil && whose(job) == controller.DefaultManagedBy, nil
	}
	assert.NoError(t, wait.PollUntilContextTimeout(t.Context(), 20*time.Millisecond, patience, true, condition), namespace)
}

// whose returns the managedBy of a Job, or "".
func whose(job *batchv1.Job) string { return ptr.Deref(job.Spec.ManagedBy, "") }

// label sets a label of a namespace, or removes it if value is nil.
func label(t *testing.T, client kubernetes.Interface, namespace, key string, value *string) {
	t.Helper()
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"labels": map[string]any{key: value}}})
	if err == nil {
		_, err = client.CoreV1().Namespaces().Patch(t.Context(), namespace, types.MergePatchType, patch, metav1.PatchOptions{})
	}
	assert.NoError(t, err)
}

// creation is one way to create a Job.
type creation func(ctx context.Context, client kubernetes.Interface, namespace string, job *batchv1.Job) (*batchv1.Job, error)

// creations are the ways in which clients create Jobs. CronJobs have a test of their own.
var creations = map[string]creation{
	"create": func(ctx context.Context, client kubernetes.Interface, namespace string, job *batchv1.Job) (*batchv1.Job, error) {
		return client.BatchV1().Jobs(namespace).Create(ctx, job, metav1.CreateOptions{})
	},
	"dry run": func(ctx context.Context, client kubernetes.Interface, namespace string, job *batchv1.Job) (*batchv1.Job, error) {
		return client.BatchV1().Jobs(namespace).Create(ctx, job, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	},
	"generateName": func(ctx context.Context, client kubernetes.Interface, namespace string, job *batchv1.Job) (*batchv1.Job, error) {
		job.Name, job.GenerateName = "", job.Name+"-"
		return client.BatchV1().Jobs(namespace).Create(ctx, job, metav1.CreateOptions{})
	},
	"server-side apply": func(ctx context.Context, client kubernetes.Interface, namespace string, job *batchv1.Job) (*batchv1.Job, error) {
		return applyJob(ctx, client, namespace, job)
	},
}

func applyJob(ctx context.Context, client kubernetes.Interface, namespace string, job *batchv1.Job) (*batchv1.Job, error) {
	job = job.DeepCopy()
	job.TypeMeta = metav1.TypeMeta{APIVersion: "batch/v1", Kind: "Job"}
	text, err := json.Marshal(job)
	if err != nil {
		return nil, err
	}
	// A status would be applied, too.
	var fields map[string]any
	if err := json.Unmarshal(text, &fields); err != nil {
		return nil, err
	}
	delete(fields, "status")
	if text, err = json.Marshal(fields); err != nil {
		return nil, err
	}
	return client.BatchV1().Jobs(namespace).Patch(ctx, job.Name, types.ApplyPatchType, text, metav1.PatchOptions{FieldManager: "user"})
}

// In namespaces with the label, a new Job without managedBy becomes ours. Jobs with a managedBy, Jobs in other
// namespaces and all other fields are unchanged.
func TestNewJobsOfLabeledNamespacesAreOurs(t *testing.T) {
	t.Parallel()
	client := newClient(t, apiServer.Config, "user")
	labels := map[string]map[string]string{
		"labeled": {managedLabel: "true"}, "unlabeled": nil, "false": {managedLabel: "false"}, "empty": {managedLabel: ""},
		"other case": {managedLabel: "True"}, "another label": {"batchjob.dev/manage": "true"},
	}
	names := map[string]string{}
	all := []string{""}
	for kind, set := range labels {
		names[kind] = newNamespace(t, client)
		for key, value := range set {
			label(t, client, names[kind], key, &value)
		}
		if kind != "labeled" {
			all = append(all, names[kind])
		}
	}
	all[0] = names["labeled"]
	applyManagedBy(t, client, all...)
	for kind, namespace := range names {
		for i, given := range []string{"", controller.DefaultManagedBy, batchv1.JobControllerName, otherController, "kueue.x-k8s.io/multikueue"} {
			want := given
			if kind == "labeled" && given == "" {
				want = controller.DefaultManagedBy
			}
			for way, make := range creations {
				name := fmt.Sprintf("%s-%d", strings.ReplaceAll(strings.ToLower(way), " ", "-"), i)
				job, err := make(t.Context(), client, namespace, named(name, newJob(managedBy(given), suspended)))
				if err != nil {
					t.Errorf("%s, %s, managedBy %q: %v", kind, way, given, err)
					continue
				}
				assert.Equalf(t, whose(job), want, "%s, %s, managedBy %q: the Job", kind, way, given)
			}
		}
	}
}

// Only spec.managedBy is set: two Jobs, one of them from a namespace without the label, are equal in all other fields.
// Lists that a merge of configurations would reject or reorder (a duplicate environment variable) are kept as they are.
func TestAdmissionSetsManagedByOnly(t *testing.T) {
	t.Parallel()
	client := newClient(t, apiServer.Config, "user")
	labeled, unlabeled := newNamespace(t, client), newNamespace(t, client)
	label(t, client, labeled, managedLabel, ptr.To("true"))
	applyManagedBy(t, client, labeled, unlabeled)
	job := named("twice", newJob(managedBy(""), withRules(3), indexed(3), suspended))
	job.Annotations = map[string]string{"batchjob.dev/pod-failure-policy-rule-names": "0=A"}
	container := &job.Spec.Template.Spec.Containers[0]
	for _, value := range []string{"1", "2"} {
		container.Env = append(container.Env, corev1.EnvVar{Name: "TWICE", Value: value}, corev1.EnvVar{Name: "X" + value, Value: "$(TWICE)"})
	}
	mustCreate := func(namespace string) batchv1.JobSpec {
		stored, err := client.BatchV1().Jobs(namespace).Create(t.Context(), job, metav1.CreateOptions{})
		assert.NoError(t, err)
		stored.Spec.Selector, stored.Spec.Template.Labels = nil, nil // They contain the UID.
		return stored.Spec
	}
	got, want := mustCreate(labeled), mustCreate(unlabeled)
	if want.ManagedBy != nil {
		t.Fatalf("the other Job has managedBy %q", *want.ManagedBy)
	}
	want.ManagedBy = ptr.To(controller.DefaultManagedBy)
	if a, b := asJSON(t, got), asJSON(t, want); a != b {
		t.Errorf("got\n%s\nwant\n%s", a, b)
	}
}

func asJSON(t *testing.T, object any) string {
	t.Helper()
	text, err := json.Marshal(object)
	assert.NoError(t, err)
	return string(text)
}

// An existing Job keeps its controller, or its lack of one, whatever is written to it, and even when its namespace gains
// or loses the label later.
func TestExistingJobsKeepTheirController(t *testing.T) {
	t.Parallel()
	client := newClient(t, apiServer.Config, "user")
	probe, namespace := newNamespace(t, client), newNamespace(t, client)
	label(t, client, probe, managedLabel, ptr.To("true"))
	applyManagedBy(t, client, probe, namespace)
	jobs := client.BatchV1().Jobs(namespace)
	mustCreate := func(name, given string) {
		if _, err := applyJob(t.Context(), client, namespace, named(name, newJob(managedBy(given), suspended))); err != nil {
			t.Fatal(err)
		}
	}
	want := map[string]string{"nobody": "", "reserved": batchv1.JobControllerName, "other": otherController}
	for name, given := range want {
		mustCreate(name, given)
	}
	label(t, client, namespace, managedLabel, ptr.To("true"))
	untilManaged(t, client, namespace)
	mustCreate("new", "")
	want["new"] = controller.DefaultManagedBy
	for name, want := range want {
		for what, write := range map[string]func() (*batchv1.Job, error){
			"update": func() (*batchv1.Job, error) {
				job, err := jobs.Get(t.Context(), name, metav1.GetOptions{})
				if err != nil {
					return nil, err
				}
				job.Labels, job.Spec.Parallelism = map[string]string{"a": "b"}, ptr.To[int32](7)
				return jobs.Update(t.Context(), job, metav1.UpdateOptions{})
			},
			"status": func() (*batchv1.Job, error) {
				return jobs.Patch(t.Context(), name, types.MergePatchType, []byte(`{"status":{"failed":1}}`), metav1.PatchOptions{}, "status")
			},
			"the same applied again": func() (*batchv1.Job, error) {
				given := want
				if name == "new" {
					given = ""
				}
				return applyJob(t.Context(), client, namespace, named(name, newJob(managedBy(given), suspended)))
			},
		} {
			job, err := write()
			if err != nil || whose(job) != want {
				t.Errorf("%s of Job %s: managedBy %q, want %q (%v)", what, name, whose(job), want, err)
			}
		}
	}
	// A file without managedBy cannot remove it from a Job.
	job, err := jobs.Get(t.Context(), "new", metav1.GetOptions{})
	assert.NoError(t, err)
	job.Spec.ManagedBy = nil
	if _, err := jobs.Update(t.Context(), job, metav1.UpdateOptions{}); !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "managedBy") {
		t.Errorf("removing managedBy: %v", err)
	}
	label(t, client, namespace, managedLabel, nil)
	if job, err := jobs.Get(t.Context(), "new", metav1.GetOptions{}); err != nil || whose(job) != controller.DefaultManagedBy {
		t.Errorf("without the label: %q, %v", whose(job), err)
	}
}

// The kustomization.yaml of each folder lists all files in it.
func TestKustomizationsListAllFiles(t *testing.T) {
	for _, folder := range []string{admissionFolder, managedByFolder, filepath.Dir(managedByFolder)} {
		entries, err := os.ReadDir(folder)
		assert.NoError(t, err)
		var want []string
		for _, entry := range entries {
			if entry.Name() != "kustomization.yaml" {
				want = append(want, entry.Name())
			}
		}
		assert.SlicesEqual(t, slices.Sorted(slices.Values(resourcesOf(t, folder))), want, folder)
	}
}
