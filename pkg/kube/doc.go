// Package kube is a client for the API groups that this program uses. It has the shape of client-go's Clientset, which
// includes all groups: their types alone made the binary 10 MB larger, and took most of the time of its first build
// (ADR 0021).
//
// In tests, a Clientset can replace this client, see test/kit/kubefake.
package kube
