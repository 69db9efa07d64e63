package controller

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	utilversion "k8s.io/apimachinery/pkg/util/version"
	"k8s.io/client-go/rest"
	logsapi "k8s.io/component-base/logs/api/v1"
	"k8s.io/klog/v2"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube"
)

// kindUnsupported is the kind of error for a server that lacks a required feature.
const kindUnsupported cmdutil.ErrorKind = "Unsupported"

const (
	// managedBySince is the first minor version of Kubernetes that keeps spec.managedBy by default (KEP-4368: alpha
	// in 1.30, beta and on in 1.32). Older API servers silently drop it from new Jobs.
	managedBySince = 32
	// guaranteedSince is the first minor version that guarantees all required features: managedBy cannot be turned off,
	// and resourceVersions can be compared (KEP-5504). On older servers, they are etcd's revisions, which can be
	// compared, too, but that is not documented.
	guaranteedSince = 35
)

// serverInfoTimeout is the time limit for reading serverInfo; the controller starts without it.
const serverInfoTimeout = 5 * time.Second

// serverInfo holds the facts that an API server reports about itself.
type serverInfo struct {
	// release is the version as the server reports it, "" if it is unknown.
	release string
	// minor is n of Kubernetes 1.n, or -1 if release has no such number.
	minor int
	// managedBy reports whether the schema of Jobs has the field; nil if the schema cannot be read.
	managedBy *bool
	// problem is why something is unknown.
	problem error
}

// readServerInfo reads the version and the schema of Jobs. Any authenticated user may do that; a failure is recorded
// in problem.
func readServerInfo(ctx context.Context, client kube.Interface) serverInfo {
	ctx, cancel := context.WithTimeout(ctx, serverInfoTimeout)
	defer cancel()
	s := serverInfo{minor: -1}
	// The schema is far larger, so it is requested while the version is read.
	schema := make(chan error, 1)
	go func() {
		has, err := schemaHasManagedBy(ctx, client.CoreV1().RESTClient())
		if err == nil {
			s.managedBy = &has
		}
		schema <- err
	}()
	release, err := readVersion(ctx, client)
	s.release, s.minor = release, minorOf(release)
	s.problem = errors.Join(err, <-schema)
	return s
}

// readingError wraps the error of a read. client-go words errors for objects, and calls a plain 403 "unknown".
func readingError(what string, err error) error {
	if apierrors.IsForbidden(err) {
		return fmt.Errorf("reading %s is forbidden", what)
	}
	return fmt.Errorf("reading %s: %w", what, err)
}

func readVersion(ctx context.Context, client kube.Interface) (string, error) {
	info, err := kube.ServerVersion(ctx, client)
	if err != nil {
		return "", readingError("its version", err)
	}
	if minorOf(info.GitVersion) < 0 && info.Minor != "" {
		// Some vendors report a version of their own, and Kubernetes' version beside it.
		return info.Major + "." + info.Minor, nil
	}
	return info.GitVersion, nil
}

var releasePattern = regexp.MustCompile(`^v?1\.[0-9]{1,4}`)

// minorOf returns n of v1.n.…, such as v1.34.2-eks-1a2b3c or 1.33+; -1 for anything else.
func minorOf(release string) int {
	v, err := utilversion.ParseGeneric(releasePattern.FindString(release))
	if err != nil {
		return -1
	}
	return int(v.Minor())
}

// schemaHasManagedBy reports whether the OpenAPI schema of batch/v1 has the field.
func schemaHasManagedBy(ctx context.Context, server rest.Interface) (bool, error) {
	text, err := server.Get().AbsPath("/openapi/v3/apis/batch/v1").SetHeader("Accept", "application/json").DoRaw(ctx)
	if err != nil {
		return false, readingError("the schema of Jobs", err)
	}
	const name = "io.k8s.api.batch.v1.JobSpec"
	var document struct {
		Components struct{ Schemas map[string]json.RawMessage }
	}
	var spec struct{ Properties map[string]json.RawMessage }
	if err := json.Unmarshal(text, &document); err != nil {
		return false, fmt.Errorf("reading the schema of Jobs: %w", err)
	}
	schema, ok := document.Components.Schemas[name]
	if !ok {
		return false, fmt.Errorf("reading the schema of Jobs: it does not contain %s", name)
	}
	if err := json.Unmarshal(schema, &spec); err != nil {
		return false, fmt.Errorf("reading the schema of Jobs: %w", err)
	}
	_, has := spec.Properties["managedBy"]
	return has, nil
}

// before reports whether the server is known to be older than Kubernetes 1.minor.
func (s serverInfo) before(minor int) bool { return s.minor >= 0 && s.minor < minor }

// check returns an error if the controller cannot work with this server, and advice if that is uncertain. byName is
// set if Jobs are selected by spec.managedBy, which --replace-builtin does not need.
func (s serverInfo) check(byName bool) (advice string, err error) {
	switch {
	case byName && s.managedBy != nil && !*s.managedBy:
		return "", s.refuse("does not support spec.managedBy")
	case byName && s.before(managedBySince):
		return "", s.refuse("drops spec.managedBy from new Jobs")
	case s.before(guaranteedSince):
		advice = fmt.Sprintf("Kubernetes %s is older than 1.%d, which this controller is designed for: ", s.release, guaranteedSince)
		if byName {
			advice += "Jobs keep spec.managedBy unless the feature gate JobManagedBy is turned off, and "
		}
		return advice + "resourceVersions can be compared only if the store is etcd", nil
	case byName && s.minor < 0 && s.managedBy == nil:
		why := strings.ReplaceAll(fmt.Sprint(s.problem), "\n", "; ") // joined errors
		return fmt.Sprintf("cannot determine whether the API server keeps spec.managedBy, as Kubernetes 1.%d and newer do: %s", guaranteedSince, why), nil
	}
	return "", nil
}

func (s serverInfo) refuse(what string) error {
	release := "of unknown version"
	if s.release != "" {
		release = "Kubernetes " + s.release
	}
	return cmdutil.NewUserError(kindUnsupported, nil, fmt.Sprintf("the API server (%s) %s, so no Job could be assigned to this controller", release, what),
		fmt.Sprintf("Kubernetes 1.%d or newer is required, and 1.%d or newer is recommended; if kube-controller-manager runs with --controllers=*,-job-controller, use --replace-builtin", managedBySince, guaranteedSince))
}

// checkResourceVersions rejects an API server whose resourceVersions cannot be compared (KEP-5504): the controller needs them
// to find out which of its own writes a watch has delivered, and would stop in the middle of its work. It ignores a
// list that fails or takes too long; the watches retry and report it.
func checkResourceVersions(ctx context.Context, client kube.Interface, namespaces []string) error {
	namespace := metav1.NamespaceAll
	if len(namespaces) > 0 {
		namespace = namespaces[0]
	}
	ctx, cancel := context.WithTimeout(ctx, serverInfoTimeout)
	defer cancel()
	list, err := client.BatchV1().Jobs(namespace).List(ctx, metav1.ListOptions{Limit: 1})
	if err != nil {
		return nil
	}
	version := list.ResourceVersion
	if _, err := resourceversion.CompareResourceVersion(version, version); err != nil {
		return cmdutil.NewUserError(kindUnsupported, nil,
			fmt.Sprintf("the resourceVersions of this API server cannot be compared (such as %q), so the controller could not tell what it has already counted", version),
			fmt.Sprintf("Kubernetes 1.%d and newer guarantee that they can be compared; with older versions, the store must be etcd", guaranteedSince))
	}
	return nil
}

// advise prints the advice of check.
func (o *Options) advise(ctx context.Context, advice string) {
	switch {
	case advice == "":
	case o.logging.Format == logsapi.DefaultLogFormat:
		fmt.Fprintln(o.ErrOut, "warning:", cmdutil.OneLine(advice))
	default:
		klog.FromContext(ctx).Info("warning: " + cmdutil.OneLine(advice))
	}
}
