package cmdutil

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
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
	timeout, err := flags.requestTimeout()
	if err != nil {
		return nil, err
	}
	loader := flags.Loader()
	raw, err := loader.RawConfig()
	if err != nil && !clientcmd.IsEmptyConfig(err) {
		return nil, explainLoadError(err)
	}
	if err := checkContext(flags, raw, loader); err != nil {
		return nil, err
	}
	config, err := loader.ClientConfig()
	if err != nil {
		return nil, ExplainConfigError(err)
	}
	if config.Host == defaultServer && !choosesServer(flags, raw) {
		if clientcmdapi.IsConfigEmpty(&raw) {
			return nil, NewUserError(KindKubeconfig, nil, "no kubeconfig found in "+kubeconfigPaths(loader), kubeconfigHint)
		}
		return nil, NewUserError(KindContext, nil, "no current context in "+kubeconfigPaths(loader),
			"choose one with --context, or with: kubectl config use-context NAME")
	}
	config = rest.CopyConfig(config)
	version := CurrentVersion() // The audit log of the API server shows it.
	config.UserAgent = fmt.Sprintf("kubectl-batchjob/%s (%s)", strings.Trim(version.Version, "()"), version.Platform)
	config.QPS, config.Burst = queriesPerSecond, queriesAtOnce
	if limits := flags.limits; limits != nil {
		config.Timeout = 0 // client-go's would also end watches and logs.
		config.Wrap(func(next http.RoundTripper) http.RoundTripper { return limits.Wrap(next, timeout) })
	}
	if flags.serverClock != nil {
		config.Wrap(flags.serverClock.Wrap)
	}
	config.WarningHandler = printWarnings(warnings)
	if flags.limits != nil && config.ExecProvider != nil {
		if config, err = flags.limits.WithPlugin(config); err != nil {
			return nil, ExplainConfigError(err)
		}
	}
	return config, nil
}

// KubeNamespace returns the namespace of -n or of the context, or "default".
func KubeNamespace(flags *KubeFlags) (string, error) {
	namespace, _, err := flags.Loader().Namespace()
	if err != nil {
		return "", explainLoadError(err)
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

// explainLoadError explains why the kubeconfig cannot be loaded.
func explainLoadError(err error) error {
	if missing, is := errors.AsType[*fs.PathError](err); is && errors.Is(err, fs.ErrNotExist) {
		return NewUserError(KindKubeconfig, err, "cannot use the kubeconfig: "+missing.Path+" does not exist", "check --kubeconfig and KUBECONFIG")
	}
	if e := explainKubeconfig(err); e != nil {
		return e
	}
	why, _, details := strings.Cut(err.Error(), parseDetails)
	if details {
		why += "; it is not a kubeconfig in YAML"
	}
	return NewUserError(KindKubeconfig, err, "cannot use the kubeconfig: "+why, "fix it, or choose another with --kubeconfig")
}

// ExplainConfigError explains an error in the contents of the kubeconfig, or in a file that it names.
func ExplainConfigError(err error) error {
	if missing, is := errors.AsType[*fs.PathError](err); is && errors.Is(err, fs.ErrNotExist) {
		return NewUserError(KindKubeconfig, err, "the kubeconfig refers to the file "+missing.Path+", which does not exist",
			"check this context ("+configHint+")")
	}
	return explainLoadError(err)
}

// choosesServer reports whether the flags, the environment or the context chooses a cluster.
func choosesServer(flags *KubeFlags, raw clientcmdapi.Config) bool {
	o := &flags.Overrides
	return cmp.Or(o.CurrentContext, raw.CurrentContext, o.ClusterInfo.Server, o.Context.Cluster, os.Getenv("KUBERNETES_MASTER")) != ""
}

// checkContext reports a context, cluster or user that does not exist. client-go's own errors would not name the files; it would
// try localhost without the cluster, and be anonymous without the user.
func checkContext(flags *KubeFlags, raw clientcmdapi.Config, loader clientcmd.ClientConfig) error {
	o := &flags.Overrides
	files := kubeconfigPaths(loader)
	if name := o.Context.Cluster; name != "" && raw.Clusters[name] == nil {
		return NewUserError(KindKubeconfig, nil, fmt.Sprintf("cluster %q not found in %s", name, files), "see: kubectl config get-clusters")
	}
	if name := o.Context.AuthInfo; name != "" && raw.AuthInfos[name] == nil {
		return NewUserError(KindKubeconfig, nil, fmt.Sprintf("user %q not found in %s", name, files), "see: kubectl config get-users")
	}
	name := cmp.Or(o.CurrentContext, raw.CurrentContext)
	if name == "" {
		return nil
	}
	chosen, found := raw.Contexts[name]
	if !found {
		return NewUserError(KindContext, nil, fmt.Sprintf("context %q not found in %s", name, files), "see: kubectl config get-contexts")
	}
	if raw.Clusters[chosen.Cluster] == nil && o.Context.Cluster == "" && o.ClusterInfo.Server == "" {
		return NewUserError(KindKubeconfig, nil,
			fmt.Sprintf("context %q refers to the cluster %q, which is not in %s", name, chosen.Cluster, files),
			"see: kubectl config get-clusters")
	}
	if chosen.AuthInfo != "" && raw.AuthInfos[chosen.AuthInfo] == nil && o.Context.AuthInfo == "" && !hasCredentials(&o.AuthInfo) {
		return NewUserError(KindKubeconfig, nil,
			fmt.Sprintf("context %q refers to the user %q, which is not in %s", name, chosen.AuthInfo, files),
			"choose one with --user; see: kubectl config get-users")
	}
	return nil
}

// hasCredentials reports whether flags identify the user.
func hasCredentials(user *clientcmdapi.AuthInfo) bool {
	return user.Token != "" || user.ClientCertificate != ""
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
