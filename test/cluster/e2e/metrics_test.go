package e2e

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/testcluster"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/tenant"
)

// reader creates a service account that may get the paths, if any, and returns its token.
func reader(t *testing.T, ns, name string, paths ...string) (token string) {
	t.Helper()
	if _, err := client.CoreV1().ServiceAccounts(ns).Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if len(paths) > 0 {
		reading := rbacv1.PolicyRule{NonResourceURLs: paths, Verbs: []string{"get"}}
		assert.NoError(t, tenant.Grant(t.Context(), client, "", ns+"-"+name, tenant.Account(ns, name), reading))
	}
	answer, err := client.CoreV1().ServiceAccounts(ns).CreateToken(t.Context(), name, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	assert.NoError(t, err)
	return answer.Status.Token
}

// read sends a GET over TLS, with a token unless it is "".
func read(t *testing.T, address, token string) (code int, body string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	assert.NoError(t, err)
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	// The controller's certificate is self-signed, so it cannot be verified.
	trusting := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12}, DisableKeepAlives: true}}
	answer, err := trusting.Do(request)
	assert.NoError(t, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	assert.NoError(t, err)
	return answer.StatusCode, string(text)
}

// Metrics and the configuration are only for users who may get these paths, over TLS; the probes are for all users.
// Requirements: JOB-52
func TestWhoMayReadMetrics(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	all, some, none := reader(t, ns, "all", "/metrics", "/configz"), reader(t, ns, "some", "/metrics"), reader(t, ns, "none")
	p := startController(t, "--namespaces", ns, "--managed-by", ownManager(ns), "--metrics-secure=true")
	apply(t, ns, "non-indexed.yaml", managedBy(ns))
	finished(t, ns, "non-indexed")
	served := p.URL(t, "Metrics")
	if !strings.HasPrefix(served, "https://") {
		t.Fatalf("metrics are served at %s", served)
	}
	for _, token := range []string{all, some} {
		eventually(t, "the roles to count", func(context.Context) (bool, error) {
			code, _ := read(t, served+"/metrics", token)
			return code == http.StatusOK, nil
		})
	}
	for name, c := range map[string]struct {
		path, token string
		code        int
		wantText    []string
	}{
		"all, metrics": {"/metrics", all, http.StatusOK, []string{
			`job_controller_jobs_finished_total{completion_mode="NonIndexed",reason="CompletionsReached",result="succeeded"} 1`,
			`job_controller_job_pods_finished_total{completion_mode="NonIndexed",result="succeeded"} 4`,
			"job_controller_job_sync_duration_seconds_bucket{", "job_controller_oldest_uncounted_pod_age_seconds 0",
			`job_controller_api_calls_total{resource="pods",result="success",verb="create"} 4`,
			`workqueue_depth{name="job"} 0`, "rest_client_requests_total{",
		}},
		"all, configuration":  {"/configz", all, http.StatusOK, []string{`"managedBy": "` + ownManager(ns) + `"`, `"kubeAPIQPS": 500`}},
		"all, other":          {"/other", all, http.StatusForbidden, []string{"/other"}},
		"some, metrics":       {"/metrics", some, http.StatusOK, nil},
		"some, configuration": {"/configz", some, http.StatusForbidden, []string{"no permission to get /configz"}},
		"none":                {"/metrics", none, http.StatusForbidden, []string{"no permission to get /metrics"}},
		"no token":            {"/metrics", "", http.StatusUnauthorized, []string{"token"}},
		"not a token":         {"/metrics", "nonsense", http.StatusUnauthorized, []string{"token"}},
	} {
		code, body := read(t, served+c.path, c.token)
		assert.Equal(t, code, c.code, name, body)
		for _, text := range c.wantText {
			assert.Contains(t, body, text, name)
		}
		if code != http.StatusOK && (strings.Contains(body, "job_controller_") || json.Valid([]byte(body))) {
			t.Errorf("%s: it tells all the same: %s", name, body)
		}
	}
	for _, path := range []string{"/healthz", "/readyz"} {
		if code, body := testcluster.Fetch(t, p.URL(t, "Health probes")+path); code != http.StatusOK {
			t.Errorf("%s: %d %s", path, code, body)
		}
	}
}
