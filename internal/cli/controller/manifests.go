package controller

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"

	"github.com/batchjob-dev/kubectl-batchjob/config"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/help"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller/leader"
)

const (
	// controllerPart is the part of the manifests that runs the controller.
	controllerPart = "default"
	// systemNamespace is the namespace of the controller.
	systemNamespace = "batchjob-system"
	// imageRepository is the repository of released images, whose tags are the versions.
	imageRepository = "ghcr.io/batchjob-dev/kubectl-batchjob"
)

// manifestOptions are the flags of --print-manifests.
type manifestOptions struct {
	parts []string
	image string
}

func (o *manifestOptions) addFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringSliceVar(&o.parts, "print-manifests", nil, "Print the manifests that run the controller in a cluster, for kubectl apply -f -, and exit. Other flags go into its Deployment. `[=PART,...]` selects parts: "+strings.Join(manifestParts(), ", ")+".")
	flags.Lookup("print-manifests").NoOptDefVal = controllerPart
	flags.StringVar(&o.image, "image", "", "Image for --print-manifests. Default: the image of this release.")
	cmdutil.MustCompleteFlag(cmd, "print-manifests", cobra.FixedCompletions(manifestParts(), cobra.ShellCompDirectiveNoFileComp|cobra.ShellCompDirectiveNoSpace))
}

// manifestParts returns the names of the kustomizations that can be printed, controllerPart first. The bases of the controller's
// kustomization are no parts.
func manifestParts() (parts []string) {
	// Reading embedded files cannot fail.
	_ = fs.WalkDir(config.Files(), ".", func(name string, _ fs.DirEntry, _ error) error {
		switch dir := path.Dir(name); {
		case path.Base(name) != kustomizationFile || dir == "manager" || dir == "rbac":
		case dir == controllerPart:
			parts = slices.Insert(parts, 0, dir)
		default:
			parts = append(parts, dir)
		}
		return nil
	})
	return parts
}

// controllerArguments is NoArguments with a hint: the value of --print-manifests needs a "=". It also rejects flags
// that are empty, as "$NS" is in a shell without that variable: they would mean all namespaces, or the image of a
// release.
func controllerArguments(cmd *cobra.Command, args []string) error {
	if len(args) > 0 && cmd.Flags().Changed("print-manifests") && slices.Contains(manifestParts(), args[0]) {
		return cmdutil.UsageErrorf("takes no arguments, but got %q; to select a part, use --print-manifests=%s", args[0], args[0])
	}
	if err := cmdutil.NoArguments(cmd, args); err != nil {
		return err
	}
	for _, name := range []string{"namespaces", "namespace", "image"} {
		f := cmd.Flags().Lookup(name)
		empty := f.Value.String() == ""
		if list, ok := f.Value.(pflag.SliceValue); ok {
			empty = len(list.GetSlice()) == 0
		}
		if f.Changed && empty {
			return cmdutil.UsageErrorf("--%s is empty; omit it to use the default", name)
		}
	}
	return nil
}

// chosen returns the selected parts, without parts that another selected part contains.
func (o *manifestOptions) chosen() (parts []string, err error) {
	for _, part := range o.parts {
		if !slices.Contains(manifestParts(), part) {
			return nil, cmdutil.UsageErrorf("--print-manifests has no part %q; must be one of: %s", part, strings.Join(manifestParts(), ", "))
		}
		if whole := path.Dir(part); !slices.Contains(o.parts, whole) && !slices.Contains(parts, part) {
			parts = append(parts, part)
		}
	}
	if len(parts) == 0 {
		return nil, cmdutil.UsageErrorf("--print-manifests must name a part: %s", strings.Join(manifestParts(), ", "))
	}
	return parts, nil
}

// printManifests runs the verb with --print-manifests. It makes no connection.
func (o *Options) printManifests(flags *pflag.FlagSet) error {
	parts, err := o.manifests.chosen()
	if err != nil {
		return err
	}
	arguments, err := o.podArguments(flags)
	if err != nil {
		return err
	}
	if err := validateImage(o.manifests.image); err != nil {
		return err
	}
	m := manifests{parts: parts, managedBy: o.config.ManagedBy, namespaces: o.config.Namespaces, shards: o.shards}
	if slices.Contains(parts, controllerPart) {
		if flags.Changed("managed-by") && !flags.Changed("leader-elect-resource-name") {
			arguments = append(arguments, "--leader-elect-resource-name="+leader.LeaseName(o.config.ManagedBy))
		}
		// The checks that creating an election makes; it makes no connection.
		o.leader.LeaderElect, o.leader.ResourceNamespace = true, systemNamespace
		if err := o.completeElection(&rest.Config{}); err != nil {
			return err
		}
		m.arguments = arguments
		m.image = o.chooseImage()
	} else if given := flagOfDeployment(flags, parts); given != "" {
		return cmdutil.UsageErrorf("--%s applies to the controller's Deployment, which is only in the part %s of --print-manifests", given, controllerPart)
	}
	text, err := m.render()
	if err != nil {
		return err
	}
	_, err = o.Out.Write(text)
	return err
}

// validateImage rejects strings that cannot be an image reference, except "". It leaves other checks to the container
// runtime.
func validateImage(image string) error {
	if image == "" {
		return nil
	}
	if i := strings.IndexFunc(image, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }); i >= 0 {
		return cmdutil.UsageErrorf("--image %q contains a space or a control character", image)
	}
	name, _, _ := strings.Cut(image, "@")
	last := strings.LastIndex(name, "/") + 1 // An earlier colon precedes a port.
	base, _, _ := strings.Cut(name[last:], ":")
	if slices.Contains(strings.Split(name[:last]+base, "/"), "") {
		return cmdutil.UsageErrorf("--image %q has no name, or one with an empty part", image)
	}
	return nil
}

// releaseVersion matches the image tags of releases.
var releaseVersion = regexp.MustCompile(`^v\d+\.\d+\.\d+(-(alpha|beta|rc)\.\d+)?$`)

// chooseImage returns the image for the Deployment, or "" for the image in the files.
func (o *Options) chooseImage() string {
	if o.manifests.image != "" {
		return o.manifests.image
	}
	version := cmdutil.CurrentVersion().Version
	if !releaseVersion.MatchString(version) {
		fmt.Fprintf(o.ErrOut, "warning: no image is published for this build (version %s), so the manifests use the image of a release. To use your own, build it (make image), push it, and pass it with --image.\n", version)
		return ""
	}
	return imageRepository + ":" + version
}

// flagOfDeployment returns a given flag that affects only the Deployment, "" for none.
func flagOfDeployment(flags *pflag.FlagSet, parts []string) (name string) {
	heeded := []string{"print-manifests", "managed-by"}
	if assignsJobs(parts) {
		heeded = append(heeded, "namespaces")
	}
	flags.Visit(func(f *pflag.Flag) {
		if name == "" && !slices.Contains(heeded, f.Name) {
			name = f.Name
		}
	})
	return name
}

// podArguments returns the flags that were given, as arguments for the controller's pods.
func (o *Options) podArguments(flags *pflag.FlagSet) (arguments []string, err error) {
	flags.Visit(func(f *pflag.Flag) {
		value := f.Value.String()
		switch reason := notForPods(f); {
		case f.Name == "print-manifests" || f.Name == "image" || err != nil:
			return
		case reason != "":
			err = cmdutil.UsageErrorf("--%s cannot be used with --print-manifests: %s", f.Name, reason)
			return
		case f.Name == "namespaces":
			value = strings.Join(o.config.Namespaces, ",")
		}
		// The kubelet expands $(NAME), and turns two dollars into one.
		arguments = append(arguments, "--"+f.Name+"="+strings.ReplaceAll(value, "$", "$$"))
	})
	return arguments, err
}

// notForPods returns why a flag cannot be used in the Deployment, or "" if it can.
func notForPods(f *pflag.Flag) string {
	switch f.Name {
	case "namespace":
		return "the manifests are for the namespace " + systemNamespace + "; to choose the namespaces to watch, use --namespaces"
	case "leader-elect":
		if f.Value.String() == "false" {
			return "the Deployment has two replicas, and only one may work at a time"
		}
	case "leader-elect-resource-namespace":
		return "the Role for Leases is in the namespace " + systemNamespace
	case "metrics-bind-address", "metrics-secure", "health-probe-bind-address":
		return "probes, Service and monitoring rely on the default; edit the printed manifests instead, for example with kustomize"
	case "tls-cert-file", "tls-private-key-file":
		return "the pods have no such file; add a volume and the flag to the printed manifests, for example with kustomize"
	}
	if help.GroupOf(f) == help.KubectlFlags {
		return "the pods connect with their service account"
	}
	return ""
}
