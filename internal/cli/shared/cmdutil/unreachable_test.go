package cmdutil

import (
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// kubeconfig returns a kubeconfig with more fields of its cluster and its user, as YAML in a line.
func kubeconfig(server, cluster, user string) string {
	return fmt.Sprintf(`{apiVersion: v1, kind: Config, current-context: ctx, clusters: [{name: c, cluster: {server: %q%s}}], `+
		`users: [{name: u, user: {%s}}], contexts: [{name: ctx, context: {cluster: c, user: u, namespace: ns1}}]}`, server, cluster, user)
}

// getJob reads a Job with a kubeconfig and flags, and returns the explained error.
func getJob(t *testing.T, content string, args ...string) error {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config")
	assert.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	t.Setenv("KUBECONFIG", path)
	env := NewEnv(genericiooptions.IOStreams{Out: io.Discard, ErrOut: io.Discard})
	flags, set := env.KubeFlags(), pflag.NewFlagSet("", pflag.ContinueOnError)
	flags.AddFlags(set)
	assert.NoError(t, set.Parse(args))
	config, err := RESTConfig(flags, io.Discard)
	if err != nil {
		return ExplainError(err)
	}
	jobs, err := NewJobsClient(config)
	if err != nil {
		return ExplainError(err)
	}
	_, err = jobs.Namespace("ns1").Get(t.Context(), "train", metav1.GetOptions{})
	return ExplainError(err)
}

// closedPort returns an address that refuses connections.
func closedPort(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	assert.NoError(t, err)
	defer listener.Close()
	return listener.Addr().String()
}

// Requirements: CLI-71
func TestKubeconfigErrorsSayWhatToDo(t *testing.T) {
	server := "https://" + closedPort(t)
	good := kubeconfig(server, "", "")
	for name, tc := range map[string]struct {
		content string
		args    string
		kind    ErrorKind
		text    string // FILE is the path of the kubeconfig
	}{
		"no such user":                {strings.Replace(good, "user: u", "user: bob", 1), "", KindKubeconfig, `context "ctx" refers to the user "bob", which is not in FILE; choose one with --user`},
		"no such cluster":             {strings.Replace(good, "cluster: c", "cluster: x", 1), "", KindKubeconfig, `context "ctx" refers to the cluster "x", which is not in FILE; see: kubectl config get-clusters`},
		"no such context":             {strings.Replace(good, "current-context: ctx", "current-context: x", 1), "", KindContext, `context "x" not found in FILE; see: kubectl config get-contexts`},
		"no context":                  {strings.Replace(good, "current-context: ctx, ", "", 1), "", KindContext, "no current context in FILE; choose one with --context"},
		"--user":                      {good, "--user=bob", KindKubeconfig, `user "bob" not found in FILE; see: kubectl config get-users`},
		"--cluster":                   {good, "--cluster=x", KindKubeconfig, `cluster "x" not found in FILE; see: kubectl config get-clusters`},
		"--context":                   {good, "--context=x", KindContext, `context "x" not found in FILE`},
		"--token instead of the user": {strings.Replace(good, "user: u", "user: bob", 1), "--token=abc", KindUnreachable, "connection refused"},
		"empty file":                  {"", "", KindKubeconfig, "no kubeconfig found in FILE; set --kubeconfig"},
		"no file":                     {good, "--kubeconfig=/nonexistent/config", KindKubeconfig, "/nonexistent/config does not exist; check --kubeconfig"},
		"a folder":                    {good, "--kubeconfig=/", KindKubeconfig, "is a directory; fix it, or choose another with --kubeconfig"},
		"not YAML":                    {"a: [", "", KindKubeconfig, "yaml: line 1"},
		"text":                        {"hello", "", KindKubeconfig, "it is not a kubeconfig in YAML; fix it"},
		"no CA file":                  {kubeconfig(server, ", certificate-authority: /nonexistent/ca", ""), "", KindKubeconfig, "unable to read certificate-authority /nonexistent/ca"},
		"no certificate file":         {kubeconfig(server, "", "client-certificate: /nonexistent/c, client-key: /nonexistent/k"), "", KindKubeconfig, "unable to read client-cert /nonexistent/c"},
		"no token file":               {kubeconfig(server, "", "tokenFile: /nonexistent/token"), "", KindKubeconfig, "the kubeconfig refers to the file /nonexistent/token, which does not exist; check this context"},
		"no plugin": {
			kubeconfig(server, "", "exec: {apiVersion: client.authentication.k8s.io/v1, command: no-such-plugin, interactiveMode: Never, installHint: brew install it}"), "", KindCredentials,
			`the credential plugin "no-such-plugin" is not installed, or not in PATH; install it, or check the user of this context (kubectl config view --minify): brew install it`,
		},
		"a plugin that fails": {
			kubeconfig(server, "", "exec: {apiVersion: client.authentication.k8s.io/v1, command: \"false\", interactiveMode: Never}"), "", KindCredentials,
			"failed with exit code 1; log in again",
		},
		"a plugin that prints something else": {
			kubeconfig(server, "", "exec: {apiVersion: client.authentication.k8s.io/v1, command: echo, args: [hi], interactiveMode: Never}"), "", KindCredentials,
			"decoding stdout: couldn't get version/kind; log in again",
		},
	} {
		t.Run(name, func(t *testing.T) {
			err := getJob(t, tc.content, strings.Fields(tc.args)...)
			text := strings.ReplaceAll(tc.text, "FILE", os.Getenv("KUBECONFIG"))
			if err == nil || KindOf(err) != tc.kind || !strings.Contains(err.Error(), text) {
				t.Errorf("%s: %v, want %q", KindOf(err), err, text)
			}
		})
	}
}

// Requirements: CLI-72
func TestErrorsOfAProxyNameTheProxy(t *testing.T) {
	answers := func(code int) string {
		proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }))
		t.Cleanup(proxy.Close)
		return strings.TrimPrefix(proxy.URL, "http://")
	}
	encrypted := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(encrypted.Close)
	closed, forbids := closedPort(t), answers(http.StatusForbidden)
	for proxy, want := range map[string]string{
		"http://" + closed:                                   "cannot reach the proxy http://" + closed + " to the API server at https://10.0.0.1:6443: connection refused; check HTTPS_PROXY",
		"socks5://" + closed:                                 "cannot reach the proxy socks5://" + closed + " to the API server at https://10.0.0.1:6443: connection refused",
		"http://proxy.invalid:3128":                          "cannot reach the proxy http://proxy.invalid:3128 to the API server at https://10.0.0.1:6443: cannot resolve the host name \"proxy.invalid\"",
		"http://" + forbids:                                  "the proxy http://" + forbids + " does not connect to the API server at https://10.0.0.1:6443: Forbidden",
		"http://me:secret@" + answers(407):                   "does not connect to the API server at https://10.0.0.1:6443: Proxy Authentication Required",
		"http://" + answers(502):                             "does not connect to the API server at https://10.0.0.1:6443: Bad Gateway",
		"https://" + forbids:                                 "cannot reach the proxy https://" + forbids + " to the API server at https://10.0.0.1:6443: tls: first record does not look like a TLS handshake",
		strings.Replace(encrypted.URL, "http:", "https:", 1): "cannot trust the proxy " + encrypted.URL + ": tls: failed to verify certificate",
	} {
		err := getJob(t, kubeconfig("https://10.0.0.1:6443", ", proxy-url: "+fmt.Sprintf("%q", proxy), ""))
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v, want %q", proxy, err, want)
		}
		if kind := KindOf(err); kind != KindUnreachable && kind != kindUntrusted {
			t.Errorf("%s: %s", proxy, kind)
		}
	}
}

// An API server behind a working proxy is at fault itself.
// Requirements: CLI-72
func TestErrorsOfTheAPIServerNameIt(t *testing.T) {
	untrusted := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(untrusted.Close)
	plain := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusBadGateway)
		fmt.Fprint(w, "<html>nginx</html>")
	}))
	t.Cleanup(plain.Close)
	closed := closedPort(t)
	tunnel := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		server, err := net.Dial("tcp", r.Host)
		if err != nil {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		w.WriteHeader(http.StatusOK)
		client, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		go func() { _, _ = io.Copy(server, client) }()
		_, _ = io.Copy(client, server)
		client.Close()
	}))
	t.Cleanup(tunnel.Close)
	through := fmt.Sprintf(", proxy-url: %q", tunnel.URL)
	for _, tc := range []struct{ server, cluster, want string }{
		{"https://" + closed, "", "cannot reach the API server at https://" + closed + ": connection refused; check that it is running"},
		{"https://api.invalid:6443", "", `cannot reach the API server at https://api.invalid:6443: cannot resolve the host name "api.invalid"`},
		{untrusted.URL, "", "cannot trust the API server at " + untrusted.URL + ": tls: failed to verify certificate: x509: certificate signed by unknown authority"},
		{
			untrusted.URL, ", tls-server-name: other.example, certificate-authority-data: " + authority(untrusted),
			"cannot trust the API server at " + untrusted.URL + ": tls: failed to verify certificate: x509: certificate is valid for example.com",
		},
		{untrusted.URL, through, "cannot trust the API server at " + untrusted.URL},
		{untrusted.URL, ", insecure-skip-tls-verify: true" + through, "the server has no such API"},
		{"https://" + closed, through, "the proxy " + tunnel.URL + " does not connect to the API server at https://" + closed + ": Bad Gateway"},
		{plain.URL, "", "a proxy or load balancer answered instead of the API server: 502 Bad Gateway"},
	} {
		err := getJob(t, kubeconfig(tc.server, tc.cluster, ""))
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s%s: %v, want %q", tc.server, tc.cluster, err, tc.want)
		}
	}
}

// authority returns the certificate of a server for a kubeconfig.
func authority(server *httptest.Server) string {
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	return base64.StdEncoding.EncodeToString(block)
}
