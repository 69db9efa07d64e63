package cmdutil

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/sanitize"
)

const (
	// kubectl's limits: with client-go's 5 per second, 100 names would take 20 s.
	queriesPerSecond, queriesAtOnce = 50, 300

	kubeconfigHint = "set --kubeconfig or KUBECONFIG"
	// defaultServer is client-go's default without any configuration (clientcmd.ClusterDefaults).
	defaultServer = "http://localhost:8080"
)

// RESTConfig returns the client configuration from the flags, the kubeconfig or the pod's service account. Its errors
// are explained. Each distinct warning of the API server is written to warnings once.
func RESTConfig(flags *KubeFlags, warnings io.Writer) (*rest.Config, error) {
	if timeout := flags.Overrides.Timeout; timeout != "" {
		if _, err := clientcmd.ParseTimeout(timeout); err != nil {
			return nil, UsageErrorf("--request-timeout=%s: %v", timeout, err)
		}
	}
	loader := flags.Loader()
	raw, err := loader.RawConfig()
	if err != nil && !clientcmd.IsEmptyConfig(err) {
		return nil, ExplainConfigError(err)
	}
	if err := checkContext(flags, raw, loader); err != nil {
		return nil, err
	}
	config, err := loader.ClientConfig()
	if err != nil {
		return nil, ExplainConfigError(err)
	}
	if clientcmdapi.IsConfigEmpty(&raw) && config.Host == defaultServer && flags.Overrides.ClusterInfo.Server == "" && os.Getenv("KUBERNETES_MASTER") == "" {
		return nil, NewUserError(KindKubeconfig, nil, "no kubeconfig found in "+kubeconfigPaths(loader), kubeconfigHint)
	}
	config = rest.CopyConfig(config)
	version := CurrentVersion() // The audit log of the API server shows it.
	config.UserAgent = fmt.Sprintf("kubectl-batchjob/%s (%s)", strings.Trim(version.Version, "()"), version.Platform)
	config.QPS, config.Burst = queriesPerSecond, queriesAtOnce
	if flags.serverClock != nil {
		config.Wrap(flags.serverClock.Wrap)
	}
	config.WarningHandler = printWarnings(warnings)
	return config, nil
}

// KubeNamespace returns the namespace of -n or of the context, or "default".
func KubeNamespace(flags *KubeFlags) (string, error) {
	namespace, _, err := flags.Loader().Namespace()
	if err != nil {
		return "", ExplainConfigError(err)
	}
	if problems := content.IsPathSegmentName(namespace); len(problems) > 0 {
		return "", UsageErrorf("namespace %q %s", namespace, strings.Join(problems, ", "))
	}
	return namespace, nil
}

// CurrentNamespace returns the namespace that kubectl uses without any flag, "" if flags choose another cluster.
func CurrentNamespace(flags *KubeFlags) string {
	o := &flags.Overrides
	if flags.Kubeconfig != "" || o.CurrentContext != "" || o.ClusterInfo.Server != "" || o.Context.Cluster != "" {
		return ""
	}
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	namespace, _, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &clientcmd.ConfigOverrides{}).Namespace()
	if err != nil {
		return ""
	}
	return namespace
}

// ExplainConfigError explains an error in loading or reading the kubeconfig.
func ExplainConfigError(err error) error {
	if e := explainKubeconfig(err); e != nil {
		return e
	}
	if missing, is := errors.AsType[*fs.PathError](err); is && errors.Is(err, fs.ErrNotExist) {
		return NewUserError(KindKubeconfig, err, "cannot use the kubeconfig: "+missing.Path+" does not exist", "check --kubeconfig and KUBECONFIG")
	}
	return NewUserError(KindKubeconfig, err, "cannot use the kubeconfig: "+err.Error(), "fix it, or choose another with --kubeconfig")
}

// checkContext reports a context or cluster that does not exist. client-go's own error would not name the files, and
// without the cluster it would try localhost.
func checkContext(flags *KubeFlags, raw clientcmdapi.Config, loader clientcmd.ClientConfig) error {
	name := cmp.Or(flags.Overrides.CurrentContext, raw.CurrentContext)
	if name == "" {
		return nil
	}
	chosen, found := raw.Contexts[name]
	if !found {
		return NewUserError(KindContext, nil, fmt.Sprintf("context %q not found in %s", name, kubeconfigPaths(loader)),
			"see: kubectl config get-contexts")
	}
	if raw.Clusters[chosen.Cluster] == nil && flags.Overrides.Context.Cluster == "" && flags.Overrides.ClusterInfo.Server == "" {
		return NewUserError(KindKubeconfig, nil,
			fmt.Sprintf("context %q refers to the cluster %q, which is not in %s", name, chosen.Cluster, kubeconfigPaths(loader)),
			"see: kubectl config get-clusters")
	}
	return nil
}

func kubeconfigPaths(loader clientcmd.ClientConfig) string {
	access := loader.ConfigAccess()
	if access.IsExplicitFile() {
		return access.GetExplicitFile()
	}
	return strings.Join(access.GetLoadingPrecedence(), string(os.PathListSeparator))
}

// printWarnings returns a handler that writes each distinct warning of the API server once.
func printWarnings(out io.Writer) rest.WarningHandler {
	return safeWarnings{rest.NewWarningWriter(out, rest.WarningWriterOptions{Deduplicate: true})}
}

// safeWarnings makes warnings safe for a terminal.
type safeWarnings struct{ rest.WarningHandler }

func (s safeWarnings) HandleWarningHeader(code int, agent, text string) {
	s.WarningHandler.HandleWarningHeader(code, agent, sanitize.Line(text))
}
