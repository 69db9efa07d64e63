package tenant

import (
	"context"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// Grant creates a role with permissions, and gives it to a user or service account: in a namespace, or, if that is "", in all.
func Grant(ctx context.Context, client kubernetes.Interface, namespace, role string, to rbacv1.Subject, may ...rbacv1.PolicyRule) error {
	meta, api, subjects := metav1.ObjectMeta{Name: role}, client.RbacV1(), []rbacv1.Subject{to}
	if namespace == "" {
		_, err := api.ClusterRoles().Create(ctx, &rbacv1.ClusterRole{ObjectMeta: meta, Rules: may}, metav1.CreateOptions{})
		if err == nil {
			ref := rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role}
			_, err = api.ClusterRoleBindings().Create(ctx, &rbacv1.ClusterRoleBinding{ObjectMeta: meta, RoleRef: ref, Subjects: subjects}, metav1.CreateOptions{})
		}
		return err
	}
	_, err := api.Roles(namespace).Create(ctx, &rbacv1.Role{ObjectMeta: meta, Rules: may}, metav1.CreateOptions{})
	if err == nil {
		ref := rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role}
		_, err = api.RoleBindings(namespace).Create(ctx, &rbacv1.RoleBinding{ObjectMeta: meta, RoleRef: ref, Subjects: subjects}, metav1.CreateOptions{})
	}
	return err
}

// Allow returns a rule that allows verbs on a resource of an API group.
func Allow(group, resource string, verbs ...string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{APIGroups: []string{group}, Resources: []string{resource}, Verbs: verbs}
}

// Account is a service account as the subject of a role.
func Account(namespace, name string) rbacv1.Subject {
	return rbacv1.Subject{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: name}
}

// User is a user as the subject of a role.
func User(name string) rbacv1.Subject {
	return rbacv1.Subject{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: name}
}
