package e2e

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/testcluster"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/command"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/tenant"
)

// installed returns the permissions of config/default.
func installed(t *testing.T) sets.Set[testcluster.Permission] {
	t.Helper()
	may, err := testcluster.Granted(kubectl, cluster.Root)
	assert.NoError(t, err)
	return may
}

// account creates a user with these permissions in the namespace, and returns the flags that make a controller
// impersonate the user.
func account(t *testing.T, ns, name string, may []testcluster.Permission) (flags []string) {
	t.Helper()
	var rules []rbacv1.PolicyRule
	for _, p := range may {
		rules = append(rules, tenant.Allow(p.Group, p.Resource, p.Verb))
	}
	assert.NoError(t, tenant.Grant(t.Context(), client, ns, name, tenant.Account(ns, name), rules...))
	user := "system:serviceaccount:" + ns + ":" + name
	for _, p := range may {
		untilAllowed(t, ns, user, p, true)
	}
	return []string{"--kubeconfig", kubeconfig, "--namespaces", ns, "--managed-by", ownManager(ns), "--as", user, "--as-group", "system:serviceaccounts"}
}

func untilAllowed(t *testing.T, ns, user string, p testcluster.Permission, allowed bool) {
	t.Helper()
	resource, subresource, _ := strings.Cut(p.Resource, "/")
	eventually(t, "the role to count", func(ctx context.Context) (bool, error) {
		answer, err := client.AuthorizationV1().SubjectAccessReviews().Create(ctx, &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
			User:               user,
			ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: ns, Verb: p.Verb, Group: p.Group, Resource: resource, Subresource: subresource},
		}}, metav1.CreateOptions{})
		return err == nil && answer.Status.Allowed == allowed, err
	})
}

// inNamespaces removes the permissions that only a ClusterRole can give: the reviews of who may read metrics.
func inNamespaces(may sets.Set[testcluster.Permission]) []testcluster.Permission {
	return slices.DeleteFunc(may.UnsortedList(), isForMetrics)
}

// expectLine checks that a command ended with a single line that helps the user.
func expectLine(t *testing.T, what string, out command.Result, code int, text ...string) {
	t.Helper()
	if out.Code != code || out.Out != "" || strings.Count(out.ErrOut, "\n") != 1 {
		t.Errorf("%s: exit %d, stdout %q, stderr %q", what, out.Code, out.Out, out.ErrOut)
	}
	for _, s := range text {
		assert.Contains(t, out.ErrOut, s, what)
	}
}

func isForMetrics(p testcluster.Permission) bool {
	return p.Resource == "tokenreviews" || p.Resource == "subjectaccessreviews"
}

// With Roles in its namespaces that have the permissions of config/default's ClusterRole, the controller runs there
// (JOB-48, TRK-34).
func TestRoleInANamespaceIsEnough(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	nobody := []string{"--kubeconfig", kubeconfig, "--as", "system:serviceaccount:" + ns + ":default", "--as-group", "system:serviceaccounts"}
	out := kubectlBatchjob(t, append([]string{"controller", "--namespaces", ns}, nobody...)...)
	expectLine(t, "controller without a role", out, 1, "may not", "update jobs/status", "create/delete/patch pods", ns, "administrator")
	expectLine(t, "status without a role", kubectlBatchjob(t, append([]string{"status", "-n", ns}, nobody...)...), 1, "list", "jobs", ns)

	flags := account(t, ns, "all", inNamespaces(installed(t)))
	p := startController(t, append(flags, "--leader-elect", "--leader-elect-resource-namespace", ns)...)
	apply(t, ns, "non-indexed.yaml", managedBy(ns))
	if job, reason := finished(t, ns, "non-indexed"); reason != "Complete/CompletionsReached" || job.Status.Succeeded != 4 {
		t.Errorf("%s %+v", reason, job.Status)
	}
	noFinalizers(t, ns, "non-indexed")
	assert.Equal(t, stop(t, p), 0, "exit")
}

// A controller that lacks any permission of config/default does not start, and names it; the verdict checks that it uses
// each (JOB-48, and JOB-56 for Leases).
func TestEachPermissionIsAskedFor(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	may := inNamespaces(installed(t))
	if len(may) < 15 {
		t.Fatalf("config/default gives only %v", may)
	}
	for i, lacking := range may {
		rest := slices.Concat(may[:i], may[i+1:])
		flags := account(t, ns, fmt.Sprintf("lacks-%d", i), rest)
		out := failToStart(t, append(flags, "--leader-elect", "--leader-elect-resource-namespace", ns)...)
		expectLine(t, "controller that may not "+lacking.String(), out, 1,
			"the controller may not "+lacking.Verb+" "+lacking.Resource+" in namespace "+ns+";", "administrator")
	}
}

// Update of jobs/finalizers is needed: where the API server checks who may block an owner's deletion, no pod can be
// created without it (JOB-48).
func TestFinalizersPermissionIsNeededToCreatePods(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	may := installed(t)
	flags := account(t, ns, "all", inNamespaces(may))
	startController(t, flags...)
	// The controller has checked its permissions; from here on it has fewer.
	role, err := client.RbacV1().Roles(ns).Get(t.Context(), "all", metav1.GetOptions{})
	assert.NoError(t, err)
	role.Rules = slices.DeleteFunc(role.Rules, func(r rbacv1.PolicyRule) bool { return r.Resources[0] == "jobs/finalizers" })
	if _, err := client.RbacV1().Roles(ns).Update(t.Context(), role, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	finalizers := testcluster.Permission{Verb: "update", Group: "batch", Resource: "jobs/finalizers"}
	if !may.Has(finalizers) {
		t.Errorf("config/default does not let the controller %v", finalizers)
	}
	untilAllowed(t, ns, "system:serviceaccount:"+ns+":all", finalizers, false)
	job := apply(t, ns, "non-indexed.yaml", managedBy(ns))
	eventually(t, "an event that tells of it", func(ctx context.Context) (bool, error) {
		list, err := client.CoreV1().Events(ns).List(ctx, metav1.ListOptions{FieldSelector: "involvedObject.name=" + job.Name + ",reason=FailedCreate"})
		return err == nil && slices.ContainsFunc(list.Items, func(e corev1.Event) bool { return strings.Contains(e.Message, "blockOwnerDeletion") }), err
	})
	assert.Equal(t, len(pods(t, ns, job.Name)), 0)
}

// Without the roles for metrics the controller works, but responds to each scrape with 503: it cannot check who the
// client is, or whether it may read metrics (JOB-48, JOB-52).
func TestScrapesAreRefusedWithoutReviews(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	reading := reader(t, ns, "reader", "/metrics")
	may := installed(t)
	for _, lacking := range []string{"tokenreviews", "subjectaccessreviews"} {
		flags := account(t, ns, "lacks-"+lacking, inNamespaces(may))
		user := flags[slices.Index(flags, "--as")+1]
		for p := range may {
			if isForMetrics(p) && p.Resource != lacking {
				grantEverywhere(t, ns, user, p)
			}
		}
		controller := startController(t, append(flags, "--metrics-secure=true")...)
		code, body := read(t, controller.URL(t, "Metrics")+"/metrics", reading)
		if code != http.StatusServiceUnavailable || strings.Contains(body, "job_controller_") {
			t.Errorf("without create %s, metrics are answered with %d: %s", lacking, code, body)
		}
		assert.Equal(t, stop(t, controller), 0, "exit")
	}
}

// grantEverywhere gives a permission with a ClusterRole.
func grantEverywhere(t *testing.T, ns, user string, p testcluster.Permission) {
	t.Helper()
	assert.NoError(t, tenant.Grant(t.Context(), client, "", ns+"-"+p.Resource, tenant.User(user), tenant.Allow(p.Group, p.Resource, p.Verb)))
	untilAllowed(t, "", user, p, true)
}

// List and get are needed, although most controllers never use them: list if the API server does not stream the initial
// objects (as before Kubernetes 1.34), and get to read a Job before adopting a pod without an owner (JOB-48, JOB-35).
func TestListAndGetAreNeeded(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	labels := map[string]string{"app": "orphans"}
	template := load(t, "non-indexed.yaml")[0].Spec.Template
	template.Labels = labels
	// It runs long enough to be adopted on a busy machine: an ended pod is not adopted.
	orphan, err := client.CoreV1().Pods(ns).Create(t.Context(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "orphan", Labels: labels, Annotations: map[string]string{"kwok.batchjob.dev/run-time": "15s"}, Finalizers: []string{batchv1.JobTrackingFinalizer}},
		Spec:       template.Spec,
	}, metav1.CreateOptions{})
	assert.NoError(t, err)
	startControllerWith(t, []string{"KUBE_FEATURE_WatchListClient=false"}, "--namespaces", ns, "--managed-by", ownManager(ns))
	job := create(t, ns, load(t, "non-indexed.yaml")[0], managedBy(ns), func(j *batchv1.Job) {
		j.Spec.ManualSelector, j.Spec.Selector = ptr.To(true), &metav1.LabelSelector{MatchLabels: labels}
		j.Spec.Template.Labels = labels
		j.Spec.Completions, j.Spec.Parallelism = ptr.To[int32](1), ptr.To[int32](1)
	})
	if job, reason := finished(t, ns, job.Name); reason != "Complete/CompletionsReached" || job.Status.Succeeded != 1 {
		t.Errorf("%s %+v", reason, job.Status)
	}
	adopted, err := client.CoreV1().Pods(ns).Get(t.Context(), orphan.Name, metav1.GetOptions{})
	if err != nil || !metav1.IsControlledBy(adopted, job) {
		t.Errorf("the pod without owner: %v %v", err, adopted.OwnerReferences)
	}
}
