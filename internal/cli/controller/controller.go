// Package controller implements the verb controller: it runs the external Job controller, and prints the manifests
// that install it.
package controller

import (
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/rest"
	cliflag "k8s.io/component-base/cli/flag"
	"k8s.io/component-base/featuregate"
	"k8s.io/component-base/logs"
	logsapi "k8s.io/component-base/logs/api/v1"
	_ "k8s.io/component-base/logs/json/register" // --logging-format=json

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller/shard"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/observe"
)

const controllerLong = `Run the controller for the Jobs whose spec.managedBy names it.

It does for them what the controller built into Kubernetes does for all others,
so both can run side by side. It stores nothing outside the cluster. In a
cluster, it runs as a Deployment, which --print-manifests prints.

On SIGINT or SIGTERM, it finishes the calls in progress, and exits with code 0.`

// controllerDetails is text for the reference only.
const controllerDetails = `To assign a Job to it, set

  spec:
    managedBy: ` + controller.DefaultManagedBy + `

when you create the Job. You can stop and start the controller at any time, and
it resumes where it left off. To run more than one of them for a managedBy
value, use --leader-elect: one works while the others wait. With --shards, all
work, each on a share of the namespaces.

Metrics are served over TLS to clients that may get the path /metrics. Health
probes are served at /healthz and /readyz. Set either address to 0 to turn it
off.

--print-manifests prints everything that this takes, with the other flags
applied, and contacts nothing.`

const controllerExample = `  # With the current context, in all namespaces
  kubectl batchjob controller

  # In two namespaces, with its own managedBy value, logging its decisions
  kubectl batchjob controller --namespaces ml,ci \
    --managed-by example.com/jobs -v 5

  # Without success policies: Jobs complete only when all indexes have
  kubectl batchjob controller --feature-gates JobSuccessPolicy=false

  # Metrics for this machine only, without TLS
  kubectl batchjob controller --metrics-bind-address 127.0.0.1:8080 \
    --metrics-secure=false

  # Install it in a cluster, limited to 100 requests per second
  kubectl batchjob controller --print-manifests --kube-api-qps 100 |
    kubectl apply -f -

  # For two namespaces, with the admission policies and your own image
  kubectl batchjob controller --print-manifests=default,admission \
    --namespaces ml,ci --image registry.example.com/kubectl-batchjob:v1 |
    kubectl apply -f -

  # In a pod, as one of several replicas, with JSON logs
  kubectl-batchjob controller --leader-elect --logging-format json

  # As one of several replicas that divide the namespaces among them
  kubectl-batchjob controller --leader-elect --shards 6

  # Instead of the built-in controller, in a cluster whose
  # kube-controller-manager runs with --controllers=*,-job-controller
  kubectl-batchjob controller --leader-elect --replace-builtin`

// Options are the flags of the controller verb, and the values that Complete derives from them.
type Options struct {
	genericiooptions.IOStreams
	kube       *cmdutil.KubeFlags
	logging    *logsapi.LoggingConfiguration
	namespaces []string
	qps        float32
	burst      int
	gates      featuregate.MutableFeatureGate
	config     controller.Config
	manifests  manifestOptions
	electionOptions
	servingOptions
}

// NewCommand returns the command controller, with its flags.
func NewCommand(env cmdutil.Env) *cobra.Command {
	return newCommandFor(&Options{IOStreams: env.IOStreams})
}

func newCommandFor(o *Options) *cobra.Command {
	o.kube, o.logging = cmdutil.NewKubeFlags(), logsapi.NewLoggingConfiguration()
	o.gates = controller.NewFeatureGate()
	o.config.FeatureGate = o.gates
	cmd := &cobra.Command{
		Use:         "controller",
		Short:       "Run the external Job controller",
		Long:        controllerLong,
		Example:     controllerExample,
		Annotations: cmdutil.Details(controllerDetails),
		Args:        controllerArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.Validate(); err != nil {
				return err
			}
			switch flags := cmd.Flags(); {
			case flags.Changed("print-manifests"):
				return o.printManifests(flags)
			case flags.Changed("image"):
				return cmdutil.UsageErrorf("--image requires --print-manifests")
			}
			if err := o.Complete(); err != nil {
				return err
			}
			return o.Run(cmd.Context())
		},
	}
	o.addFlags(cmd)
	return cmd
}

func (o *Options) addFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&o.config.ManagedBy, "managed-by", controller.DefaultManagedBy, "The spec.managedBy of the Jobs to run, a domain and a path.")
	flags.BoolVar(&o.config.ReplaceBuiltin, "replace-builtin", false, "Also run Jobs without spec.managedBy and those of kubernetes.io/job-controller, in a cluster whose kube-controller-manager runs with --controllers=*,-job-controller. Never use it alongside that controller.")
	flags.StringSliceVar(&o.namespaces, "namespaces", nil, "Namespaces to watch, separated by commas. Default: the one given by -n, or all.")
	flags.Float32Var(&o.qps, "kube-api-qps", 500, "Requests per second to the API server; negative for no limit.")
	flags.IntVar(&o.burst, "kube-api-burst", 500, "How many requests may exceed --kube-api-qps in a burst.")
	flags.IntVar(&o.config.Workers, "concurrent-job-syncs", 50, "How many Jobs to sync at the same time.")
	o.gates.AddFlag(flags)
	flags.Lookup("feature-gates").Usage = "Features to turn off, as NAME=false separated by commas:\n" + strings.Join(o.gates.KnownFeatures(), "\n")
	o.electionOptions.addFlags(flags)
	o.servingOptions.addFlags(flags)
	o.manifests.addFlags(cmd)
	logs.AddFlags(flags, logs.SkipLoggingConfigurationFlags())
	logsapi.AddFlags(o.logging, flags)
	flags.SetNormalizeFunc(cliflag.WordSepNormalizeFunc)
	o.kube.AddTo(cmd)
	cmdutil.MustCompleteFlag(cmd, "feature-gates", cobra.FixedCompletions(gateValues(o.gates), cobra.ShellCompDirectiveNoFileComp|cobra.ShellCompDirectiveNoSpace))
	cmdutil.MustCompleteFlag(cmd, "logging-format", cmdutil.CompleteWords("text", "json"))
}

// gateValues returns all single values of --feature-gates, for completion.
func gateValues(gates featuregate.MutableFeatureGate) (values []string) {
	for _, gate := range slices.Sorted(maps.Keys(gates.GetAll())) {
		values = append(values, string(gate)+"=false", string(gate)+"=true")
	}
	return values
}

// Validate checks the flags; its errors are usage errors.
func (o *Options) Validate() error {
	if o.kube.Overrides.Context.Namespace != "" {
		o.namespaces = append(o.namespaces, o.kube.Overrides.Context.Namespace)
	}
	slices.Sort(o.namespaces)
	o.config.Namespaces = slices.Compact(o.namespaces)
	switch {
	case o.qps == 0:
		return cmdutil.UsageErrorf("--kube-api-qps must not be 0; a negative value means no limit")
	case o.burst < 1:
		return cmdutil.UsageErrorf("--kube-api-burst must be at least 1, not %d", o.burst)
	case o.config.Workers < 1:
		return cmdutil.UsageErrorf("--concurrent-job-syncs must be at least 1, not %d", o.config.Workers)
	case o.shards < 1 || o.shards > shard.Max:
		return cmdutil.UsageErrorf("--shards must be 1 to %d, not %d", shard.Max, o.shards)
	case (o.certFile == "") != (o.keyFile == ""):
		return cmdutil.UsageErrorf("--tls-cert-file and --tls-private-key-file must be used together")
	case o.certFile != "" && !o.metricsSecure:
		return cmdutil.UsageErrorf("--tls-cert-file cannot be used with --metrics-secure=false")
	}
	if err := controller.ValidateManagedBy(o.config.ManagedBy, o.config.ReplaceBuiltin); err != nil {
		return cmdutil.UsageErrorf("--managed-by: %v", err)
	}
	if err := o.config.Validate(); err != nil {
		return cmdutil.UsageErrorf("%v", err)
	}
	if list := logsapi.Validate(o.logging, nil, nil); len(list) > 0 {
		return cmdutil.UsageErrorf("--logging-format and other log flags: %v", list.ToAggregate())
	}
	return nil
}

// Complete creates the clients, the election and the logger.
func (o *Options) Complete() error {
	config, err := cmdutil.RESTConfig(o.kube, io.Discard)
	if err != nil {
		return err
	}
	if o.config.Client, err = newControllerClient(config, o.qps, o.burst, 0); err != nil {
		return err
	}
	// Events have their own rate limit, so that they never delay other requests.
	if o.config.EventClient, err = newControllerClient(config, eventQPS, 2*eventQPS, eventTimeout); err != nil {
		return err
	}
	if err := o.completeElection(config); err != nil {
		return err
	}
	if err := o.completeServing(config); err != nil {
		return err
	}
	if err := logsapi.ValidateAndApplyWithOptions(o.logging, &logsapi.LoggingOptions{ErrorStream: o.ErrOut, InfoStream: o.ErrOut}, nil); err != nil {
		return cmdutil.UsageErrorf("%v", err)
	}
	return nil
}

// eventQPS is the rate limit of event writes per second; the burst is twice as large.
const eventQPS = 50

// eventTimeout is the time limit for writing an event, as a write without a response delays all later ones.
const eventTimeout = 30 * time.Second

// newControllerClient returns a client that uses protobuf, as encoding is most of the cost of a pod write.
func newControllerClient(config *rest.Config, qps float32, burst int, timeout time.Duration) (kube.Interface, error) {
	config = rest.CopyConfig(config)
	config.QPS, config.Burst = qps, burst
	// A timeout would end watches, too; the controller limits its other calls itself.
	config.Timeout = timeout
	config.ContentType = runtime.ContentTypeProtobuf
	config.AcceptContentTypes = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON
	config.WarningHandler = rest.NoWarnings{} // Each pod may cause one.
	config.UserAgent = controller.FieldManager + "/" + cmdutil.CurrentVersion().Version
	client, err := kube.NewForPods(config, kube.FieldsOf[corev1.Pod](observe.PodFields()...))
	if err != nil {
		return nil, cmdutil.ExplainConfigError(err)
	}
	return client, nil
}
