output "plan_role_arn" {
  description = "The ARN of the role for plans: template.yaml's PlanTargetRoleArn."
  value       = aws_iam_role.provider["plan"].arn
}

output "apply_role_arn" {
  description = "The ARN of the role for applies: template.yaml's ApplyTargetRoleArn."
  value       = aws_iam_role.provider["apply"].arn
}
