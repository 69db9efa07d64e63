package cmdutil

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericclioptions"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

const twoContexts = `apiVersion: v1
kind: Config
current-context: a
clusters:
- {name: one, cluster: {server: "https://one:6443"}}
- {name: two, cluster: {server: "https://two:6443", tls-server-name: two}}
users:
- {name: alice, user: {token: abc}}
- {name: bob, user: {username: bob, password: secret}}
contexts:
- {name: a, context: {cluster: one, user: alice, namespace: ns-a}}
- {name: b, context: {cluster: two, user: bob}}
`

// The connection flags mean the same as in kubectl: both give the same client configuration.
func TestConnectionFlagsAreThoseOfKubectl(t *testing.T) {
	kubeconfig := filepath.Join(t.TempDir(), "config")
	assert.NoError(t, os.WriteFile(kubeconfig, []byte(twoContexts), 0o600))
	for _, line := range []string{
		"", "--context b", "--context nothing", "--cluster two", "--user bob -n x", "-n ns/x", "--namespace=y --token t", "-s https://other:1 --insecure-skip-tls-verify",
		"--server=https://[::1]:2 --tls-server-name z --proxy-url socks5://p:1 --disable-compression", "--request-timeout 30s", "--request-timeout 5",
		"--as jane --as-group g1,g2 --as-group g3 --as-uid 7 --as-user-extra k=v --as-user-extra k=w=x --as-user-extra wrong",
		"--client-certificate c.pem --client-key k.pem --certificate-authority ca.pem", "--cache-dir /tmp/x",
	} {
		args := append([]string{"--kubeconfig", kubeconfig}, strings.Fields(line)...)
		ours, kubectl := NewKubeFlags(), genericclioptions.NewConfigFlags(true)
		parseFlags(t, ours.AddFlags, args)
		parseFlags(t, kubectl.AddFlags, args)
		got, err := ours.Loader().ClientConfig()
		want, wantErr := kubectl.ToRESTConfig()
		if err == nil && wantErr == nil && got.Proxy != nil && want.Proxy != nil {
			got.Proxy, want.Proxy = nil, nil // Functions are not compared.
		}
		if (err == nil) != (wantErr == nil) || !reflect.DeepEqual(got, want) {
			t.Errorf("%q gives %v, %v; kubectl's flags give %v, %v", line, got, err, want, wantErr)
		}
		namespace, given, _ := ours.Loader().Namespace()
		wantNamespace, wantGiven, _ := kubectl.ToRawKubeConfigLoader().Namespace()
		if namespace != wantNamespace || given != wantGiven {
			t.Errorf("%q gives the namespace %q, %t; kubectl's flags give %q, %t", line, namespace, given, wantNamespace, wantGiven)
		}
	}
	got, want := pflag.NewFlagSet("", pflag.ContinueOnError), pflag.NewFlagSet("", pflag.ContinueOnError)
	NewKubeFlags().AddFlags(got)
	genericclioptions.NewConfigFlags(true).AddFlags(want)
	if a, b := signatures(got), signatures(want); !reflect.DeepEqual(a, b) {
		t.Errorf("flags %v, kubectl has %v", a, b)
	}
}

func parseFlags(t *testing.T, add func(*pflag.FlagSet), args []string) {
	t.Helper()
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	add(flags)
	assert.NoError(t, flags.Parse(args))
}

// signatures returns the names and types of flags.
func signatures(flags *pflag.FlagSet) (all []string) {
	flags.VisitAll(func(f *pflag.Flag) { all = append(all, "-"+f.Shorthand+" --"+f.Name+" "+f.Value.Type()) })
	return all
}
