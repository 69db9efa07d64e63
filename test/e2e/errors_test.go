package e2e

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Bad input ends with one line that says what to do, and the right exit code.
func TestBadInput(t *testing.T) {
	t.Parallel()
	broken := filepath.Join(t.TempDir(), "broken")
	if err := os.WriteFile(broken, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, verb := range []string{"controller", "status"} {
		for name, c := range map[string]struct {
			args []string
			code int
			says []string
		}{
			"unreachable":        {[]string{"--kubeconfig", kubeconfig, "--server", "https://127.0.0.1:1"}, 1, []string{"cannot reach", "127.0.0.1:1", "check"}},
			"unknown context":    {[]string{"--kubeconfig", kubeconfig, "--context", "nowhere"}, 1, []string{`context "nowhere" not found`, "get-contexts"}},
			"missing kubeconfig": {[]string{"--kubeconfig", "/does/not/exist"}, 1, []string{"/does/not/exist", "--kubeconfig"}},
			"broken kubeconfig":  {[]string{"--kubeconfig", broken}, 1, []string{broken}},
			"unknown flag":       {[]string{"--nonsense"}, 2, []string{"nonsense", "--help"}},
		} {
			out := kubectlBatchjob(t, append([]string{verb}, c.args...)...)
			expectLine(t, verb+" "+name, out, c.code, c.says...)
		}
	}
	for name, args := range map[string][]string{
		"invalid":   {"--managed-by", "nodomain"},
		"reserved":  {"--managed-by", "kubernetes.io/job-controller"},
		"too long":  {"--managed-by", "example.com/" + strings.Repeat("x", 60)},
		"qps":       {"--kube-api-qps", "0"},
		"workers":   {"--concurrent-job-syncs", "0"},
		"namespace": {"--namespaces", "Not_A_Name"},
		"argument":  {"surplus"},
	} {
		out := kubectlBatchjob(t, append([]string{"controller", "--kubeconfig", kubeconfig}, args...)...)
		expectLine(t, "controller "+name, out, 2, "--help")
	}
}

func expectLine(t *testing.T, what string, out result, code int, says ...string) {
	t.Helper()
	if out.code != code || out.stdout != "" || strings.Count(out.stderr, "\n") != 1 {
		t.Errorf("%s: exit %d, stdout %q, stderr %q", what, out.code, out.stdout, out.stderr)
	}
	for _, s := range says {
		if !strings.Contains(out.stderr, s) {
			t.Errorf("%s: stderr %q does not say %q", what, out.stderr, s)
		}
	}
}

// Without its permissions the controller does not start, and says which are
// missing; with a Role for its namespace it runs there (JOB-48, TRK-34).
func TestPermissions_JOB_48_TRK_34(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	user := []string{"--as", "system:serviceaccount:" + ns + ":default", "--as-group", "system:serviceaccounts"}
	out := kubectlBatchjob(t, append([]string{"controller", "--kubeconfig", kubeconfig, "--namespaces", ns}, user...)...)
	expectLine(t, "controller without a role", out, 1, "may not", "update jobs/status", "create/delete/patch pods", ns, "administrator")
	expectLine(t, "status without a role", kubectlBatchjob(t, append([]string{"status", "--kubeconfig", kubeconfig, "-n", ns}, user...)...), 1, "list", "jobs", ns)

	role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: "controller"}, Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{"batch"}, Resources: []string{"jobs"}, Verbs: []string{"get", "list", "watch"}},
		{APIGroups: []string{"batch"}, Resources: []string{"jobs/status", "jobs/finalizers"}, Verbs: []string{"update"}},
		{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"list", "watch", "create", "delete", "patch"}},
		{APIGroups: []string{""}, Resources: []string{"events"}, Verbs: []string{"create", "patch"}},
	}}
	if _, err := client.RbacV1().Roles(ns).Create(t.Context(), role, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	binding := &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "controller"},
		RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "controller"},
		Subjects: []rbacv1.Subject{{Kind: "ServiceAccount", Name: "default", Namespace: ns}}}
	if _, err := client.RbacV1().RoleBindings(ns).Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the role to count", func(ctx context.Context) (bool, error) {
		review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
			User:               "system:serviceaccount:" + ns + ":default",
			ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: ns, Verb: "get", Group: "batch", Resource: "jobs"},
		}}
		answer, err := client.AuthorizationV1().SubjectAccessReviews().Create(ctx, review, metav1.CreateOptions{})
		return err == nil && answer.Status.Allowed, err
	})
	p := startController(t, append([]string{"--namespaces", ns, "--managed-by", ownManager(ns)}, user...)...)
	apply(t, ns, "non-indexed.yaml", managedBy(ns))
	if job, reason := finished(t, ns, "non-indexed"); reason != "Complete/CompletionsReached" || job.Status.Succeeded != 4 {
		t.Errorf("%s %+v", reason, job.Status)
	}
	noFinalizers(t, ns, "non-indexed")
	if code := p.stop(t); code != 0 {
		t.Errorf("exit %d", code)
	}
}
