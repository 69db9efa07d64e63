package controller

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube/apicall"
)

// permission is the right to use some verbs on a resource.
type permission struct {
	group, resource string // with the subresource, as RBAC rules name it
	verbs           []string
}

// leasePermission is required by --leader-elect.
var leasePermission = permission{"coordination.k8s.io", "leases", []string{"get", "create", "update"}}

// shardPermission is required by --shards: replicas list each other's Leases, and remove the Leases of dead ones.
var shardPermission = permission{"coordination.k8s.io", "leases", []string{"get", "list", "create", "update", "delete"}}

// controllerPermissions are all permissions that the controller requires (JOB-48).
var controllerPermissions = []permission{
	{"batch", "jobs", []string{"get", "list", "watch"}},
	{"batch", "jobs/status", []string{"update"}},
	// Required if the admission plugin OwnerReferencesPermissionEnforcement is on.
	{"batch", "jobs/finalizers", []string{"update"}},
	{"", "pods", []string{"list", "watch", "create", "delete", "patch"}},
	{"", "events", []string{"create", "patch"}},
}

// permissionTimeout is the time limit for checking the permissions in one namespace, or in all. Nothing is served
// meanwhile, so the probes of the Deployment have to wait longer.
const permissionTimeout = 30 * time.Second

// checkPermissions checks all permissions before anything starts, so that a missing permission, or an API server that
// does not answer, is one clear error instead of a log message that repeats.
func checkPermissions(ctx context.Context, client kube.Interface, namespaces []string, leaseNamespace string, leases permission) error {
	if len(namespaces) == 0 {
		namespaces = []string{metav1.NamespaceAll}
	}
	needed := make(map[string][]permission, len(namespaces)+1)
	for _, namespace := range namespaces {
		needed[namespace] = controllerPermissions
	}
	if leaseNamespace != "" {
		needed[leaseNamespace] = append(slices.Clone(needed[leaseNamespace]), leases)
	}
	var missing []string
	for _, namespace := range slices.Sorted(maps.Keys(needed)) {
		denied, err := deniedIn(ctx, client, namespace, needed[namespace])
		if err != nil {
			return apicall.Call{Verb: "create", Group: "authorization.k8s.io", Resource: "selfsubjectaccessreviews"}.Wrap(err)
		}
		missing = append(missing, denied...)
	}
	if len(missing) == 0 {
		return nil
	}
	return cmdutil.NewUserError(cmdutil.KindForbidden, nil, "the controller may not "+strings.Join(missing, ", "),
		"ask a cluster administrator for a role that allows this, or choose other namespaces with --namespaces")
}

// deniedIn returns the permissions that are missing in one namespace.
func deniedIn(ctx context.Context, client kube.Interface, namespace string, needed []permission) (missing []string, err error) {
	ctx, cancel := context.WithTimeout(ctx, permissionTimeout)
	defer cancel()
	for _, p := range needed {
		var denied []string
		for _, verb := range p.verbs {
			allowed, err := cmdutil.IsAllowed(ctx, client, apicall.Call{Namespace: namespace, Verb: verb, Group: p.group, Resource: p.resource})
			if err != nil {
				return nil, err
			}
			if !allowed {
				denied = append(denied, verb)
			}
		}
		if len(denied) > 0 {
			missing = append(missing, fmt.Sprintf("%s %s", strings.Join(denied, "/"), permissionTarget(p.resource, namespace)))
		}
	}
	return missing, nil
}

func permissionTarget(resource, namespace string) string {
	if namespace == "" {
		return resource + " in all namespaces"
	}
	return resource + " in namespace " + namespace
}
