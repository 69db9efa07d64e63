package controller

import (
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	cliflag "k8s.io/component-base/cli/flag"
	"k8s.io/component-base/featuregate"
	"k8s.io/component-base/logs"
	logsapi "k8s.io/component-base/logs/api/v1"
	_ "k8s.io/component-base/logs/json/register" // --logging-format=json

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller"
)

const controllerLong = `Run the controller of the Jobs whose spec.managedBy names it.

It does for these Jobs what the controller built into Kubernetes does for all
others, and leaves those alone: both can run side by side. Give a Job to it with

  spec:
    managedBy: ` + controller.DefaultManagedBy + `

which has to be there when the Job is created. The controller keeps nothing
outside the cluster: it may be stopped and started at any time, and goes on
where it was. To run more than one of them for a managedBy value, use
--leader-elect: one works, and the others wait.

Metrics are served with TLS to whoever may get the path /metrics, and health
probes at /healthz and /readyz. 0 as an address switches either off.

In a cluster it runs as a Deployment. --print-manifests prints all that is
needed for that, with the flags that are given beside it, and contacts nothing.

It runs until it gets SIGINT or SIGTERM, finishes the calls that are under way,
and ends with exit code 0.`

const controllerExample = `  # With the current context, for all namespaces
  kubectl batchjob controller

  # For two namespaces, with a name of its own, and what it decides in the log
  kubectl batchjob controller --namespaces ml,ci \
    --managed-by example.com/jobs -v 5

  # Without success policies: Jobs complete with all of their indexes only
  kubectl batchjob controller --feature-gates JobSuccessPolicy=false

  # Metrics for this machine only, without TLS
  kubectl batchjob controller --metrics-bind-address 127.0.0.1:8080 \
    --metrics-secure=false

  # Install it in a cluster, and give it fewer requests per second there
  kubectl batchjob controller --print-manifests --kube-api-qps 100 |
    kubectl apply -f -

  # For two namespaces, with the admission policies, and an image of one's own
  kubectl batchjob controller --print-manifests=default,admission \
    --namespaces ml,ci --image registry.example.com/kubectl-batchjob:v1 |
    kubectl apply -f -

  # In a pod, one of several, with the permissions of its account and JSON logs
  kubectl-batchjob controller --leader-elect --logging-format json

  # Instead of the built-in controller, in a cluster whose
  # kube-controller-manager runs with --controllers=*,-job-controller
  kubectl-batchjob controller --leader-elect --replace-builtin`

// Options are the flags of the controller verb, and what Complete makes of them.
type Options struct {
	genericiooptions.IOStreams
	kube       *genericclioptions.ConfigFlags
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

func NewCommand(env cmdutil.Env) *cobra.Command {
	return newCommandFor(&Options{IOStreams: env.IOStreams})
}

func newCommandFor(o *Options) *cobra.Command {
	o.kube, o.logging = cmdutil.NewKubeFlags(), logsapi.NewLoggingConfiguration()
	o.gates = controller.NewFeatureGate()
	o.config.FeatureGate = o.gates
	cmd := &cobra.Command{
		Use:     "controller",
		Short:   "Run the external Job controller",
		Long:    controllerLong,
		Example: controllerExample,
		Args:    controllerArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.Validate(); err != nil {
				return err
			}
			switch flags := cmd.Flags(); {
			case flags.Changed("print-manifests"):
				return o.printManifests(flags)
			case flags.Changed("image"):
				return cmdutil.UsageErrorf("--image goes with --print-manifests")
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
	flags.StringVar(&o.config.ManagedBy, "managed-by", controller.DefaultManagedBy, "The spec.managedBy of the Jobs to run: a domain and a path.")
	flags.BoolVar(&o.config.ReplaceBuiltin, "replace-builtin", false, "Run the Jobs without spec.managedBy too, and those of kubernetes.io/job-controller, in a cluster whose kube-controller-manager runs with --controllers=*,-job-controller. Never beside that controller.")
	flags.StringSliceVar(&o.namespaces, "namespaces", nil, "Namespaces to watch, separated by commas. All of them if neither this nor -n is given.")
	flags.Float32Var(&o.qps, "kube-api-qps", 500, "Requests per second to the API server; negative for no limit.")
	flags.IntVar(&o.burst, "kube-api-burst", 500, "Requests that may exceed --kube-api-qps for a moment.")
	flags.IntVar(&o.config.Workers, "concurrent-job-syncs", 5, "How many Jobs are worked on at the same time.")
	o.gates.AddFlag(flags)
	flags.Lookup("feature-gates").Usage = "Features to switch off, as NAME=false separated by commas:\n" + strings.Join(o.gates.KnownFeatures(), "\n")
	o.electionOptions.addFlags(flags)
	o.servingOptions.addFlags(flags)
	o.manifests.addFlags(cmd)
	logs.AddFlags(flags, logs.SkipLoggingConfigurationFlags())
	logsapi.AddFlags(o.logging, flags)
	flags.SetNormalizeFunc(cliflag.WordSepNormalizeFunc)
	o.kube.AddFlags(flags)
	cmdutil.CompleteKubeFlags(cmd, o.kube)
	cmdutil.MustCompleteFlag(cmd, "feature-gates", cobra.FixedCompletions(gateValues(o.gates), cobra.ShellCompDirectiveNoFileComp|cobra.ShellCompDirectiveNoSpace))
	cmdutil.MustCompleteFlag(cmd, "logging-format", cmdutil.CompleteWords("text", "json"))
}

// gateValues are what --feature-gates may hold, one by one.
func gateValues(gates featuregate.MutableFeatureGate) (values []string) {
	for _, gate := range slices.Sorted(maps.Keys(gates.GetAll())) {
		values = append(values, string(gate)+"=false", string(gate)+"=true")
	}
	return values
}

// Validate checks the flags; its errors are usage errors.
func (o *Options) Validate() error {
	if *o.kube.Namespace != "" {
		o.namespaces = append(o.namespaces, *o.kube.Namespace)
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
	return o.validate()
}

// Complete makes the clients, the election and the logger.
func (o *Options) Complete() error {
	config, err := cmdutil.RESTConfig(o.kube, io.Discard)
	if err != nil {
		return err
	}
	if o.config.Client, err = newControllerClient(config, o.qps, o.burst, 0); err != nil {
		return err
	}
	// Events have a limit of their own, so that they never hold up anything else.
	if o.config.EventClient, err = newControllerClient(config, eventQPS, 2*eventQPS, eventTimeout); err != nil {
		return err
	}
	if err := o.electionOptions.complete(o, config); err != nil {
		return err
	}
	if err := o.servingOptions.complete(o, config); err != nil {
		return err
	}
	if err := logsapi.ValidateAndApplyWithOptions(o.logging, &logsapi.LoggingOptions{ErrorStream: o.ErrOut, InfoStream: o.ErrOut}, nil); err != nil {
		return cmdutil.UsageErrorf("%v", err)
	}
	return nil
}

// eventQPS is how many events per second are written; bursts may have twice as many.
const eventQPS = 50

// eventTimeout ends the write of an event that gets no answer: others wait behind it.
const eventTimeout = 30 * time.Second

// newControllerClient speaks protobuf, which is most of the cost of a pod write.
func newControllerClient(config *rest.Config, qps float32, burst int, timeout time.Duration) (kubernetes.Interface, error) {
	config = rest.CopyConfig(config)
	config.QPS, config.Burst = qps, burst
	// One would end watches too; the controller limits its other calls itself.
	config.Timeout = timeout
	config.ContentType = runtime.ContentTypeProtobuf
	config.AcceptContentTypes = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON
	config.WarningHandler = rest.NoWarnings{} // Each pod may bring one.
	config.UserAgent = controller.FieldManager + "/" + cmdutil.CurrentVersion().Version
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, cmdutil.ExplainConfigError(err)
	}
	return client, nil
}
