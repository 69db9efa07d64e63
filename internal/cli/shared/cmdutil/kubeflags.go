package cmdutil

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/batchjob-dev/kubectl-batchjob/internal/requests"
	"github.com/batchjob-dev/kubectl-batchjob/internal/serverclock"
)

// KubeFlags are kubectl's connection flags. The flags of cli-runtime would bring all API groups into the binary (ADR
// 0021).
type KubeFlags struct {
	// Kubeconfig is the path given with --kubeconfig.
	Kubeconfig string
	// Overrides are the values of flags, which take precedence over the kubeconfig.
	Overrides clientcmd.ConfigOverrides

	serverClock *serverclock.Clock // nil for none
	limits      *requests.Limits   // nil for none
	timeout     *pflag.Flag        // --request-timeout
	userExtra   []string
	load        sync.Once
	loader      clientcmd.ClientConfig
}

// OwnFlag is an annotation of a flag of a verb with the name, and not the meaning, of a flag of kubectl.
const OwnFlag = "own"

// OnlyWith is an annotation of a flag that is only for another one, whose name is the value: help names it without a description.
const OnlyWith = "only-with"

// NewKubeFlags returns kubectl's connection flags.
func NewKubeFlags() *KubeFlags {
	return &KubeFlags{Overrides: clientcmd.ConfigOverrides{ClusterDefaults: clientcmd.ClusterDefaults}}
}

// KubeFlags returns kubectl's connection flags, for a verb that connects to the cluster. Responses set the clock
// e.ServerClock. Requests are limited to --request-timeout, and the first that waits for long is reported.
func (e Env) KubeFlags() *KubeFlags {
	flags := NewKubeFlags()
	flags.serverClock = e.ServerClock
	flags.limits = &requests.Limits{
		Notice: e.Backoff.Silence(), Now: e.Now, After: e.After, Print: func(line string) { fmt.Fprintln(e.ErrOut, OneLine(line)) },
	}
	return flags
}

// requestTimeout returns the value of --request-timeout, 0 for no limit.
func (f *KubeFlags) requestTimeout() (time.Duration, error) {
	if f.timeout == nil || !f.timeout.Changed {
		return requests.DefaultTimeout, nil
	}
	timeout, err := clientcmd.ParseTimeout(f.Overrides.Timeout)
	if err != nil {
		return 0, UsageErrorf("--request-timeout=%s: %v", f.Overrides.Timeout, err)
	}
	return timeout, nil
}

// AddFlags adds the flags to a command's flags. Package help has their texts.
func (f *KubeFlags) AddFlags(flags *pflag.FlagSet) {
	names := clientcmd.RecommendedConfigOverrideFlags("")
	names.ClusterOverrideFlags.APIServer.ShortName = "s"
	// As in kubectl, passwords cannot be given on the command line.
	names.AuthOverrideFlags.Username, names.AuthOverrideFlags.Password = clientcmd.FlagInfo{}, clientcmd.FlagInfo{}
	names.ContextOverrideFlags.Namespace = clientcmd.FlagInfo{} // The standard flag would accept ns/NAME, too.
	clientcmd.BindOverrideFlags(&f.Overrides, flags, names)
	f.timeout = flags.Lookup(clientcmd.FlagTimeout)
	flags.StringVarP(&f.Overrides.Context.Namespace, "namespace", "n", "", "")
	flags.StringVar(&f.Kubeconfig, "kubeconfig", "", "")
	flags.StringArrayVar(&f.userExtra, "as-user-extra", nil, "")
	flags.String("cache-dir", "", "") // kubectl has it; nothing is cached here.
}

// Loader returns the loader of the kubeconfig. It must first be called after the flags have been parsed.
func (f *KubeFlags) Loader() clientcmd.ClientConfig {
	f.load.Do(func() {
		for _, extra := range f.userExtra {
			if key, value, ok := strings.Cut(extra, "="); ok {
				if f.Overrides.AuthInfo.ImpersonateUserExtra == nil {
					f.Overrides.AuthInfo.ImpersonateUserExtra = map[string][]string{}
				}
				fields := f.Overrides.AuthInfo.ImpersonateUserExtra
				fields[key] = append(fields[key], value)
			}
		}
		rules := clientcmd.NewDefaultClientConfigLoadingRules()
		rules.ExplicitPath, rules.DefaultClientConfig = f.Kubeconfig, &clientcmd.DefaultClientConfig
		f.loader = clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &f.Overrides)
	})
	return f.loader
}
