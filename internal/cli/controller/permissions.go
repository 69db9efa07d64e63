package controller

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube/apicall"
)

// policyRule allows verbs on one resource, or on a subresource as in "jobs/status".
func policyRule(group, resource string, verbs ...string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{APIGroups: []string{group}, Resources: []string{resource}, Verbs: verbs}
}

// leaseRule is required by --leader-elect.
var leaseRule = policyRule("coordination.k8s.io", "leases", "get", "create", "update")

// shardRule is required by --shards: replicas list each other's Leases, and remove the Leases of dead ones.
var shardRule = policyRule("coordination.k8s.io", "leases", "get", "list", "create", "update", "delete")

// controllerRules are all permissions that the controller requires (JOB-48).
var controllerRules = []rbacv1.PolicyRule{
	policyRule("batch", "jobs", "get", "list", "watch"),
	policyRule("batch", "jobs/status", "update"),
	// Required if the admission plugin OwnerReferencesPermissionEnforcement is on.
	policyRule("batch", "jobs/finalizers", "update"),
	policyRule("", "pods", "list", "watch", "create", "delete", "patch"),
	policyRule("", "events", "create", "patch"),
}

// permissionTimeout is the time limit for checking the permissions in one namespace, or in all. Nothing is served
// meanwhile, so the probes of the Deployment have to wait longer.
const permissionTimeout = 30 * time.Second

// checkPermissions checks all permissions before anything starts, so that a missing permission, or an API server that
// does not answer, is one clear error instead of a log message that repeats.
func checkPermissions(ctx context.Context, client kube.Interface, namespaces []string, leaseNamespace string, leases rbacv1.PolicyRule) error {
	if len(namespaces) == 0 {
		namespaces = []string{metav1.NamespaceAll}
	}
	needed := make(map[string][]rbacv1.PolicyRule, len(namespaces)+1)
	for _, namespace := range namespaces {
		needed[namespace] = controllerRules
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

// deniedIn describes the permissions that are missing in one namespace.
func deniedIn(ctx context.Context, client kube.Interface, namespace string, needed []rbacv1.PolicyRule) (missing []string, err error) {
	ctx, cancel := context.WithTimeout(ctx, permissionTimeout)
	defer cancel()
	where := "in namespace " + namespace
	if namespace == "" {
		where = "in all namespaces"
	}
	for _, rule := range needed {
		var denied []string
		for _, verb := range rule.Verbs {
			allowed, err := cmdutil.IsAllowed(ctx, client, apicall.Call{Namespace: namespace, Verb: verb, Group: rule.APIGroups[0], Resource: rule.Resources[0]})
			if err != nil {
				return nil, err
			}
			if !allowed {
				denied = append(denied, verb)
			}
		}
		if len(denied) > 0 {
			missing = append(missing, strings.Join(denied, "/")+" "+rule.Resources[0]+" "+where)
		}
	}
	return missing, nil
}
