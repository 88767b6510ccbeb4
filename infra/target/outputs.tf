output "plan_role_arn" {
  description = "ARN of the role for plans. Set it as the stack's parameter PlanTargetRoleArn, or as plan_role of an environment in lockstep.hcl."
  value       = aws_iam_role.provider["plan"].arn
}

output "apply_role_arn" {
  description = "ARN of the role for applies. Set it as the stack's parameter ApplyTargetRoleArn, or as apply_role of an environment in lockstep.hcl."
  value       = aws_iam_role.provider["apply"].arn
}
