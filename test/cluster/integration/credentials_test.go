package integration

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/tenant"
)

// controllerAccount creates a service account with the controller's permissions (JOB-48) in the namespace.
func (f *fixture) controllerAccount() string {
	f.t.Helper()
	const name = "controller"
	_, err := f.client.CoreV1().ServiceAccounts(f.namespace).Create(f.t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
	assert.NoError(f.t, err, "making a service account")
	err = tenant.Grant(f.t.Context(), f.client, f.namespace, name, tenant.Account(f.namespace, name),
		tenant.Allow("batch", "jobs", "get", "list", "watch"), tenant.Allow("batch", "jobs/status", "update"), tenant.Allow("batch", "jobs/finalizers", "update"),
		tenant.Allow("", "pods", "list", "watch", "create", "delete", "patch"))
	assert.NoError(f.t, err, "making a role")
	return name
}

// tokenFor returns a token of the account that is valid while a secret of this name exists.
func (f *fixture) tokenFor(account, secret string) string {
	f.t.Helper()
	held, err := f.client.CoreV1().Secrets(f.namespace).Create(f.t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: secret}}, metav1.CreateOptions{})
	assert.NoError(f.t, err, "making a secret")
	answer, err := f.client.CoreV1().ServiceAccounts(f.namespace).CreateToken(f.t.Context(), account, &authenticationv1.TokenRequest{
		Spec: authenticationv1.TokenRequestSpec{BoundObjectRef: &authenticationv1.BoundObjectReference{Kind: "Secret", APIVersion: "v1", Name: secret, UID: held.UID}},
	}, metav1.CreateOptions{})
	assert.NoError(f.t, err, "asking for a token")
	return answer.Status.Token
}

// revoke invalidates a token, and waits until the API server, which caches tokens for ten seconds, rejects it.
func (f *fixture) revoke(token, secret string) {
	f.t.Helper()
	assert.NoError(f.t, f.client.CoreV1().Secrets(f.namespace).Delete(f.t.Context(), secret, metav1.DeleteOptions{}))
	config := rest.AnonymousClientConfig(apiServer.Config)
	config.BearerToken = token
	probe := newClient(f.t, config, "probe")
	f.until("the token is not valid anymore", func() bool {
		_, err := probe.CoreV1().Pods(f.namespace).List(context.Background(), metav1.ListOptions{})
		return apierrors.IsUnauthorized(err)
	})
}

// pluginConfig returns a configuration whose credentials come from a plugin that prints the file.
func pluginConfig(t *testing.T, file string) *rest.Config {
	t.Helper()
	config := rest.AnonymousClientConfig(apiServer.Config)
	config.ExecProvider = &clientcmdapi.ExecConfig{
		Command: "sh", Args: []string{"-c", `printf '{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":{"token":"%s"}}' "$(cat "$0")"`, file},
		APIVersion: "client.authentication.k8s.io/v1", InteractiveMode: clientcmdapi.NeverExecInteractiveMode,
	}
	return config
}

// The controller's token is revoked, and its calls fail until its plugin has a new one. Then it continues without a
// restart. (Tokens and certificates in files are also reloaded: internal/cli, which creates the controller's client,
// tests that.)
// Requirements: JOB-57
func TestControllerGoesOnAfterExpiredCredentials(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	account := f.controllerAccount()
	file := filepath.Join(t.TempDir(), "token")
	give := func(token string) {
		t.Helper()
		assert.NoError(t, os.WriteFile(file, []byte(token), 0o600))
	}
	first := f.tokenFor(account, "first")
	give(first)
	m := f.newMeter()
	p := f.startControllerAt(pluginConfig(t, file), m.counts)
	f.create(newJob(completions(4), parallelism(2), backoffLimit(1)))
	pods := f.untilActive(2)
	f.kubelet.run(pods...)
	f.untilCounts("a", counts{active: 2, ready: 2})

	f.revoke(first, "first")
	f.kubelet.fail(pods[0])
	f.kubelet.succeed(pods[1])
	f.until("several writes were not authorized, and are counted", func() bool {
		counted := m.read("api_calls_total")["api_calls_total{resource=jobs/status,result=forbidden,verb=update}"]
		return p.wire.answered(statusPut, http.StatusUnauthorized) >= 3 && counted >= 3
	})
	assert.Equal(t, countsOf(f.history.job("a")), (counts{active: 2, ready: 2}), "without valid credentials the Job counts")
	give(f.tokenFor(account, "second"))
	f.kubelet.play(everySucceeds)
	f.untilComplete("a", 4, 1)
	f.wantPodsEver(5)
	f.untilReleased()
}
