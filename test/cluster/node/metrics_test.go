//go:build node

package node

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// Issue 7, point 1: each pod and the Service serve metrics with TLS, only to users with the role
// batchjob-metrics-reader.
func TestMetricsAreServedWithTLS(t *testing.T) {
	ns := namespace(t)
	reader, other := token(t, ns, "reader"), token(t, ns, "other")
	if r := kubectl(t, ns, "create", "clusterrolebinding", ns, "--clusterrole", "batchjob-metrics-reader", "--serviceaccount", ns+":reader"); r.Code != 0 {
		t.Fatalf("%+v", r)
	}
	t.Cleanup(func() {
		_ = client.RbacV1().ClusterRoleBindings().Delete(context.Background(), ns, metav1.DeleteOptions{})
	})
	service, err := client.CoreV1().Services(system).Get(t.Context(), "batchjob-controller-metrics", metav1.GetOptions{})
	assert.NoError(t, err)
	leaders := 0
	for _, pod := range twoReady(t) {
		body := wantMetrics(t, pod.Status.PodIP, reader, other)
		if strings.Contains(body, `leader_election_master_status{name="batchjob-batchjob-dev-controller"} 1`) {
			leaders++
		}
	}
	assert.Equal(t, leaders, 1)
	wantMetrics(t, service.Spec.ClusterIP, reader, other)
}

func token(t *testing.T, ns, account string) string {
	t.Helper()
	if r := kubectl(t, ns, "create", "serviceaccount", account); r.Code != 0 {
		t.Fatalf("%+v", r)
	}
	return strings.TrimSpace(kubectl(t, ns, "create", "token", account).Out)
}

// wantMetrics requests the metrics as a reader, without the role, and without a valid token.
func wantMetrics(t *testing.T, host, reader, other string) string {
	t.Helper()
	// Connections are not reused, so that the Service chooses a pod for each request.
	asking := &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, // It is self-signed.
	}}
	url := "https://" + net.JoinHostPort(host, "8443") + "/metrics"
	for _, c := range []struct {
		token string
		code  int
	}{{"", http.StatusUnauthorized}, {"nonsense", http.StatusUnauthorized}, {other, http.StatusForbidden}} {
		if code, body := get(t, asking, url, c.token); code != c.code {
			t.Errorf("%s: %d %s, want %d", url, code, body, c.code)
		}
	}
	code, body := get(t, asking, url, reader)
	assert.Equal(t, code, http.StatusOK, url, body)
	wantParts(t, url, body, []string{"leader_election_master_status", "process_resident_memory_bytes", "job_controller_"})
	return body
}
