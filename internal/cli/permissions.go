package cli

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// permission is to do something with a resource.
type permission struct {
	group, resource, subresource string
	verbs                        []string
}

// leasePermission is for --leader-elect.
var leasePermission = permission{"coordination.k8s.io", "leases", "", []string{"get", "create", "update"}}

// controllerPermissions is all that the controller does (JOB-48).
var controllerPermissions = []permission{
	{"batch", "jobs", "", []string{"get", "list", "watch"}},
	{"batch", "jobs", "status", []string{"update"}},
	// Asked for by clusters that check who may block an owner's deletion.
	{"batch", "jobs", "finalizers", []string{"update"}},
	{"", "pods", "", []string{"list", "watch", "create", "delete", "patch"}},
	{"", "events", "", []string{"create", "patch"}},
}

// checkPermissions asks the API server before anything starts, so that a missing permission is one clear line and not a
// log that repeats.
func checkPermissions(ctx context.Context, client kubernetes.Interface, namespaces []string, leaseNamespace string) error {
	if len(namespaces) == 0 {
		namespaces = []string{metav1.NamespaceAll}
	}
	needed := make(map[string][]permission, len(namespaces)+1)
	for _, namespace := range namespaces {
		needed[namespace] = controllerPermissions
	}
	if leaseNamespace != "" {
		needed[leaseNamespace] = append(slices.Clone(needed[leaseNamespace]), leasePermission)
	}
	var missing []string
	for _, namespace := range slices.Sorted(maps.Keys(needed)) {
		for _, p := range needed[namespace] {
			var denied []string
			for _, verb := range p.verbs {
				allowed, err := isAllowed(ctx, client, authorizationv1.ResourceAttributes{
					Namespace: namespace, Verb: verb, Group: p.group, Resource: p.resource, Subresource: p.subresource,
				})
				if err != nil {
					return apiCall{verb: "create", group: "authorization.k8s.io", resource: "selfsubjectaccessreviews"}.wrap(err)
				}
				if !allowed {
					denied = append(denied, verb)
				}
			}
			if len(denied) > 0 {
				missing = append(missing, fmt.Sprintf("%s %s", strings.Join(denied, "/"), permissionTarget(p.resource, p.subresource, namespace)))
			}
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return newUserError(kindForbidden, nil, "the controller may not "+strings.Join(missing, ", "),
		"ask a cluster administrator for a role that allows it, or choose other namespaces with --namespaces")
}

func permissionTarget(resource, subresource, namespace string) string {
	if subresource != "" {
		resource += "/" + subresource
	}
	if namespace == "" {
		return resource + " in all namespaces"
	}
	return resource + " in namespace " + namespace
}

func isAllowed(ctx context.Context, client kubernetes.Interface, a authorizationv1.ResourceAttributes) (bool, error) {
	review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &a}}
	answer, err := client.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, review, metav1.CreateOptions{})
	if err != nil {
		return false, err
	}
	return answer.Status.Allowed, nil
}
