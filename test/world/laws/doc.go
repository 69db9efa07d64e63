// Package laws states what holds of every explanation, whatever the cause: laws that a good answer follows although nobody
// has shown its cause to the authors.
//
// World draws a Job with pods and events as the API server, the kubelet, the scheduler and controllers write them, and says
// what a good answer about it must have (Truth). Ask explains it in all forms, and each Law finds what is wrong with the
// Answer. Laws without a Truth also hold of recordings.
package laws
